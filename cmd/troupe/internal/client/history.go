package client

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/troupe-api/troupe/cmd/troupe/internal/client/difference"
	"github.com/troupe-api/troupe/cmd/troupe/internal/client/printer"
	"github.com/troupe-api/troupe/cmd/troupe/internal/rewrites"
	"github.com/troupe-api/troupe/kinds/tree"
)

type historyOptions struct {
	printer.Options
	At, AuditLog string
	Diff         bool
	Limit        int64
}

// A revision is an item of an object's history.
type revision struct {
	event    string // type of the watch event
	time     string
	object   tree.Tree
	previous tree.Tree // nil if the object was created or its previous revision is not retained
	item     tree.Tree
}

func (o *historyOptions) run(s *session, args []string) error {
	if o.Limit < 0 {
		return usageError("--limit must not be negative")
	}
	if o.At != "" {
		o.Output = cmp.Or(o.Output, "yaml")
		return (&getOptions{Options: o.Options, At: o.At}).run(s, args)
	}
	targets, err := s.named(args)
	if err != nil {
		return err
	}
	users, err := readAuditLog(o.AuditLog)
	if err != nil {
		return fmt.Errorf("--audit-log: %w", err)
	}
	for _, one := range targets {
		if err := o.show(s, one, users); err != nil {
			return err
		}
	}
	return nil
}

func (s *session) named(args []string) ([]target, error) {
	f := &targetFlags{}
	selections, _, err := s.selections(f, args)
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(selections, func(one selection) bool { return len(one.names) == 0 }) {
		return nil, usageError("give the name of an object: TYPE NAME or TYPE/NAME")
	}
	return s.targetsOf(f, selections)
}

func (o *historyOptions) show(s *session, one target, users auditLog) error {
	revisions, err := s.revisions(one, o.Limit)
	if err != nil {
		return err
	}
	if !o.IsTable() {
		items := []any{}
		for _, v := range revisions {
			items = append(items, v.item)
		}
		return s.print(o.Options, tree.Tree{"apiVersion": "v1", "kind": "List", "items": items})
	}
	grid := &printer.Grid{}
	columns := 4
	if o.AuditLog != "" {
		columns = 5
	}
	if !o.NoHeaders && !o.Diff {
		grid.Row([]string{"REVISION", "TIME", "EVENT", "MANAGER", "USER"}[:columns]...)
	}
	for _, v := range revisions {
		row := []string{v.version(), v.time, v.event, v.manager(), users.user(one, v)}[:columns]
		if !o.Diff {
			grid.Row(row...)
			continue
		}
		s.printf("%s\n", strings.TrimRight(strings.Join(row, "  "), " "))
		after := v.object
		if v.event == "DELETED" {
			after = nil
		}
		s.showDiff(difference.Unified(v.previous, after, one.String()+" (before)", fmt.Sprintf("%s (%s)", one, v.version())))
	}
	return grid.Flush(s.out)
}

// revisions returns the newest revisions of an object. A limit of 0 means all.
func (s *session) revisions(one target, limit int64) (all []revision, err error) {
	q := url.Values{"history": {"true"}}
	for {
		if limit > 0 { // one more, with which the last one is compared
			q.Set("limit", strconv.FormatInt(limit+1-int64(len(all)), 10))
		}
		page, err := s.Get(s.ctx, one.path(), q)
		if err != nil {
			return nil, err
		}
		if !page.Has("items") {
			return nil, fmt.Errorf("%s has no object history; it needs troupe 0.3 or later", s.Server())
		}
		for _, item := range page.Objects("items") {
			v := revision{event: item.String("type"), time: item.String("time"), object: item.Object("object"), item: item}
			if n := len(all); n > 0 && all[n-1].event != "ADDED" {
				all[n-1].previous = v.object
			}
			all = append(all, v)
		}
		token := page.Object("metadata").String("continue")
		switch {
		case limit > 0 && int64(len(all)) > limit:
			return all[:limit], nil
		case token == "":
			return all, nil
		}
		q.Set("continue", token)
	}
}

func (v revision) version() string { return v.object.Object("metadata").String("resourceVersion") }

// manager returns the field manager that made the revision, or "-" if it is unknown, as for
// deletes.
func (v revision) manager() string {
	if v.event == "DELETED" || v.previous == nil && v.event != "ADDED" {
		return "-"
	}
	return cmp.Or(rewrites.Manager(v.previous, v.object), "-")
}

// pastQuery returns the query for reading a past state. at is a revision or a time.
func pastQuery(at string) (url.Values, error) {
	if at == "" {
		return nil, nil
	}
	if _, err := strconv.ParseUint(at, 10, 64); err == nil {
		return url.Values{"resourceVersion": {at}, "resourceVersionMatch": {"Exact"}}, nil
	}
	if _, err := time.Parse(time.RFC3339, at); err != nil {
		return nil, usageError(fmt.Sprintf("--at %q is neither a resource version nor a time such as 2006-01-02T15:04:05Z", at))
	}
	return url.Values{"at": {at}}, nil
}

// An auditLog holds the audit events of successful writes.
type auditLog []auditEvent

type auditEvent struct {
	Verb                   string
	User, ImpersonatedUser struct{ Username string }
	ObjectRef              struct{ Resource, Namespace, Name, APIGroup string }
	ResponseStatus         struct{ Code int }
	ResponseObject         struct {
		Metadata struct{ ResourceVersion string }
	}
	RequestReceivedTimestamp, StageTimestamp time.Time
}

func readAuditLog(path string) (l auditLog, err error) {
	if path == "" {
		return nil, nil
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, math.MaxInt)
	for lines.Scan() {
		var e auditEvent
		if !bytes.Contains(lines.Bytes(), []byte(`"ResponseComplete"`)) || json.Unmarshal(lines.Bytes(), &e) != nil || e.ResponseStatus.Code >= 300 {
			continue
		}
		switch e.Verb {
		case "create", "update", "patch", "delete", "deletecollection":
			l = append(l, e)
		}
	}
	return l, lines.Err()
}

// user returns the user of the write whose response contains the revision. If there is none, it
// returns the user of a write that was in progress when the revision was committed.
func (l auditLog) user(one target, v revision) string {
	at, _ := time.Parse(time.RFC3339, v.time)
	during := ""
	for _, e := range l {
		of := e.ObjectRef
		if of.Resource != one.resource.Name || of.APIGroup != one.resource.Group || of.Namespace != one.namespace || of.Name != one.name && of.Name != "" {
			continue
		}
		user := cmp.Or(e.ImpersonatedUser.Username, e.User.Username)
		switch {
		case e.ResponseObject.Metadata.ResourceVersion == v.version() && of.Name != "":
			return user
		case !at.Before(e.RequestReceivedTimestamp) && !at.After(e.StageTimestamp):
			during = user
		}
	}
	return during
}
