package params

import (
	"time"

	"github.com/troupe-api/troupe/http/internal/apierrors"
	"github.com/troupe-api/troupe/http/internal/requestinfo"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/selector"
)

// A List contains the parameters of list, watch, and deletecollection. It keeps the text of the
// selectors, because a continue token is valid only with the same selectors.
type List struct {
	Labels selector.Labels
	Fields selector.Fields
	// Timeout is the duration of a watch. 0 means the default, and a negative value ends the watch
	// immediately.
	Timeout                               time.Duration
	selectors                             string // as text
	resourceVersion, resourceVersionMatch string
	continueToken                         string
	time                                  time.Time // time of a past state
	limit                                 int64
	watch                                 bool
	bookmarks                             bool
	// hasSendInitialEvents distinguishes an absent sendInitialEvents from false.
	sendInitialEvents, hasSendInitialEvents bool
}

// ListRules configures the parsing of list parameters.
type ListRules struct {
	MetaGroup        string // of ListOptions
	DisableChunking  bool   // ignore limits and continue tokens
	DisableWatchList bool   // reject sendInitialEvents
}

// ParseList parses and validates list parameters for kind k.
func ParseList(r ListRules, k *schema.Kind, q requestinfo.Query, watch bool) (o List, err error) {
	o.watch = watch
	if q == "" {
		return o, nil
	}
	if o.limit, err = q.Number("limit"); err != nil {
		return o, err
	}
	seconds, err := q.Number("timeoutSeconds")
	if err != nil {
		return o, err
	}
	// The bounds prevent an overflow of the Duration.
	o.Timeout = time.Duration(min(max(seconds, -1), 1<<31)) * time.Second
	labels, fields := q.Get("labelSelector"), q.Get("fieldSelector")
	if o.Labels, err = selector.ParseLabels(labels); err != nil {
		return o, err
	}
	if o.Fields, err = selector.ParseFields(k, fields); err != nil {
		return o, err
	}
	if labels != "" || fields != "" {
		o.selectors = labels + "&" + fields
	}
	o.resourceVersion, o.resourceVersionMatch, o.continueToken = q.Get("resourceVersion"), q.Get("resourceVersionMatch"), q.Get("continue")
	o.bookmarks = q.Flag("allowWatchBookmarks")
	_, o.hasSendInitialEvents = q.Lookup("sendInitialEvents")
	o.sendInitialEvents = q.Flag("sendInitialEvents")
	if !watch {
		if o.time, err = parseTime(q); err != nil {
			return o, err
		}
	}
	f := o.validate(r)
	if r.DisableChunking {
		o.limit, o.continueToken = 0, ""
	}
	return o, apierrors.InvalidOptions(r.MetaGroup, "ListOptions", f)
}

const (
	matchExact        = "Exact"
	matchNotOlderThan = "NotOlderThan"
)

const (
	fieldMatch   = "resourceVersionMatch"
	fieldInitial = "sendInitialEvents"
)

const matchWithContinue = "resourceVersionMatch is forbidden when continue is provided"

func (o *List) validate(r ListRules) (f schema.Faults) {
	if o.watch {
		o.validateWatch(r, &f)
	} else {
		o.validateList(&f)
	}
	return f
}

// validateList checks list options. resourceVersion "0" allows any version, so it cannot be
// combined with Exact.
func (o *List) validateList(f *schema.Faults) {
	if o.resourceVersionMatch != "" {
		if o.resourceVersion == "" {
			f.Forbidden(fieldMatch, "resourceVersionMatch is forbidden unless resourceVersion is provided")
		}
		if o.continueToken != "" {
			f.Forbidden(fieldMatch, matchWithContinue)
		}
		if o.resourceVersionMatch != matchExact && o.resourceVersionMatch != matchNotOlderThan {
			f.NotSupported(fieldMatch, o.resourceVersionMatch, []string{matchExact, matchNotOlderThan, ""})
		}
		if o.resourceVersionMatch == matchExact && o.resourceVersion == "0" {
			f.Forbidden(fieldMatch, `resourceVersionMatch "exact" is forbidden for resourceVersion "0"`)
		}
	}
	if o.hasSendInitialEvents {
		f.Forbidden(fieldInitial, "sendInitialEvents is forbidden for list")
	}
}

// validateWatch checks the options of a watch. resourceVersionMatch requires sendInitialEvents.
// Informers set it to NotOlderThan, so that the initial events are at least as recent as the
// requested version.
func (o *List) validateWatch(r ListRules, f *schema.Faults) {
	if o.hasSendInitialEvents && o.resourceVersionMatch != matchNotOlderThan {
		f.Forbidden(fieldMatch, "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan")
	}
	if o.hasSendInitialEvents && r.DisableWatchList {
		f.Forbidden(fieldInitial, "sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled")
	}
	if o.resourceVersionMatch == "" {
		if o.continueToken != "" && !o.hasSendInitialEvents && (o.resourceVersion == "" || o.resourceVersion == "0") && !r.DisableWatchList {
			f.Forbidden(fieldMatch, matchWithContinue) // such a watch has a match by default
		}
		return
	}
	if !o.hasSendInitialEvents {
		f.Forbidden(fieldMatch, "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided")
	}
	if o.resourceVersionMatch != matchNotOlderThan {
		f.NotSupported(fieldMatch, o.resourceVersionMatch, []string{matchNotOlderThan})
	}
	if o.continueToken != "" {
		f.Forbidden(fieldMatch, matchWithContinue)
	}
}

// Request returns the list request for the store. Without a resourceVersion, a list returns the
// newest objects. "0" allows any version. Any other value is the minimum version, or the exact
// version if a limit is set. The namespace is ignored for cluster-scoped kinds.
func (o *List) Request(k *schema.Kind, i *requestinfo.Info) (request.List, error) {
	l := request.List{
		Kind: k, Labels: o.Labels, Fields: o.Fields,
		Limit: int(min(max(o.limit, 0), 1<<31)), Continue: o.continueToken, Selectors: o.selectors,
		Time: o.time, Logged: o.resourceVersionMatch == matchExact,
	}
	if k.Namespaced {
		l.Namespace = i.Namespace
	}
	if o.continueToken != "" {
		if o.resourceVersion != "" && o.resourceVersion != "0" {
			return l, apierrors.BadRequest("specifying resource version is not allowed when using continue")
		}
		return l, nil
	}
	version, err := ParseVersion(o.resourceVersion)
	if err != nil {
		return l, err
	}
	l.Version = version
	switch {
	case o.resourceVersion == "":
		l.Match = request.MatchMostRecent
	case version == 0:
		l.Match = request.MatchAny
	case o.resourceVersionMatch == matchExact, o.resourceVersionMatch == "" && l.Limit > 0:
		l.Match = request.MatchExact
	default:
		l.Match = request.MatchNotOlderThan
	}
	return l, nil
}

// WatchRequest returns the watch request for the store. A watch without a version, or from "0",
// begins with an ADDED event for each object, which clients expect unless they set
// sendInitialEvents.
//
// newest returns the current version. WatchRequest calls it last, so that the watch does not replay
// earlier events.
func (o *List) WatchRequest(k *schema.Kind, i *requestinfo.Info, newest func() uint64) (request.Watch, error) {
	w := request.Watch{Kind: k, Labels: o.Labels, Fields: o.Fields, Bookmarks: o.bookmarks}
	if k.Namespaced {
		w.Namespace = i.Namespace
	}
	version, err := ParseVersion(o.resourceVersion)
	if err != nil {
		return w, err
	}
	w.Version, w.Stale = version, o.resourceVersion != "" && version == 0
	switch {
	case o.hasSendInitialEvents && o.sendInitialEvents, !o.hasSendInitialEvents && version == 0:
		w.SendInitialEvents, w.MarkInitialEventsEnd = true, o.bookmarks
	case version == 0:
		w.Version = newest()
	}
	return w, nil
}
