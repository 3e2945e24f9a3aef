package params

import (
	"strconv"
	"time"

	"github.com/troupe-api/troupe/http/internal/apierrors"
	"github.com/troupe-api/troupe/http/internal/requestinfo"
	"github.com/troupe-api/troupe/kinds/request"
)

// ParseGet adds the parameters of a get to a request.
func ParseGet(q requestinfo.Query, r *request.Get) (err error) {
	if q == "" {
		return nil
	}
	text := q.Get("resourceVersion")
	if r.Version, err = ParseVersion(text); err != nil {
		return err
	}
	r.Stale, r.Exact = text != "" && r.Version == 0, q.Get(fieldMatch) == matchExact
	if r.Exact && r.Version == 0 {
		return apierrors.BadRequest("resourceVersionMatch=Exact needs the resourceVersion of a state")
	}
	r.Time, err = parseTime(q)
	return err
}

// ParseHistory adds the parameters of an object's history to a request.
func ParseHistory(q requestinfo.Query, r *request.History) error {
	limit, err := q.Number("limit")
	if err != nil {
		return err
	}
	r.Limit = int(min(limit, 1<<31-1))
	token := q.Get("continue")
	if token == "" {
		return nil
	}
	if r.Before, err = strconv.ParseUint(token, 10, 64); err != nil || r.Before == 0 {
		return apierrors.BadRequest("continue: Invalid value: " + strconv.Quote(token) + ": must be the token of the previous page")
	}
	return nil
}

func parseTime(q requestinfo.Query) (t time.Time, err error) {
	text := q.Get("at")
	if text == "" {
		return t, nil
	}
	if t, err = time.Parse(time.RFC3339, text); err != nil {
		return t, apierrors.BadRequest("at: Invalid value: " + strconv.Quote(text) + ": must be a time such as 2006-01-02T15:04:05Z")
	}
	for _, other := range []string{"resourceVersion", fieldMatch, "continue"} {
		if q.Get(other) != "" {
			return t, apierrors.BadRequest("at: Forbidden: may not be used together with " + other)
		}
	}
	return t, nil
}
