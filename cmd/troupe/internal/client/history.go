package client

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/troupe-api/troupe/cmd/troupe/internal/client/difference"
	"github.com/troupe-api/troupe/cmd/troupe/internal/client/printer"
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
		get := &getOptions{Options: o.Options, At: o.At}
		if get.Output == "" {
			get.Output = "yaml"
		}
		return get.run(s, args)
	}
	selections, err := s.named(args)
	if err != nil {
		return err
	}
	users, err := newAuditLog(o.AuditLog)
	if err != nil {
		return err
	}
	for _, one := range selections {
		for _, name := range one.names {
			if err := o.show(s, one, name, users); err != nil {
				return err
			}
		}
	}
	return nil
}

// named parses arguments that must name objects.
func (s *session) named(args []string) ([]selection, error) {
	selections, _, err := s.selections(&targetFlags{}, args)
	for _, one := range selections {
		if err == nil && len(one.names) == 0 {
			err = usageError("give the name of an object: TYPE NAME or TYPE/NAME")
		}
	}
	return selections, err
}

func (o *historyOptions) show(s *session, one selection, name string, users auditLog) error {
	revisions, err := s.revisions(one, name, o.Limit)
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
	header := []string{"REVISION", "TIME", "EVENT", "MANAGER"}
	if o.AuditLog != "" {
		header = append(header, "USER")
	}
	if !o.NoHeaders && !o.Diff {
		grid.Row(header...)
	}
	for _, v := range revisions {
		row := []string{v.version(), v.time, v.event, v.managers()}
		if o.AuditLog != "" {
			row = append(row, users.user(one, name, v))
		}
		if !o.Diff {
			grid.Row(row...)
			continue
		}
		s.printf("%s\n", strings.Join(row, "  "))
		after := v.object
		if v.event == "DELETED" {
			after = nil
		}
		label := one.resource.TypeName() + "/" + name
		s.showDiff(difference.Unified(v.previous, after, label+" (before)", label+" ("+v.version()+")"))
	}
	return grid.Flush(s.out)
}

// revisions returns the newest revisions of an object; a limit of 0 means all.
func (s *session) revisions(one selection, name string, limit int64) (all []revision, err error) {
	q := url.Values{"history": {"true"}}
	for {
		if limit > 0 { // one more, to compare the last one with
			q.Set("limit", strconv.FormatInt(limit+1-int64(len(all)), 10))
		}
		page, err := s.Get(s.ctx, one.resource.Path(one.namespace, name), q)
		if err != nil {
			return nil, err
		}
		if !page.Has("items") {
			return nil, fmt.Errorf("%s has no object history; it needs troupe 0.5 or later", s.Server())
		}
		for _, item := range page.Objects("items") {
			v := revision{event: item.String("type"), time: item.String("time"), object: item.Object("object"), item: item}
			if n := len(all); n > 0 && all[n-1].event != "ADDED" {
				all[n-1].previous = v.object
			}
			all = append(all, v)
		}
		token := page.Object("metadata").String("continue")
		if token == "" || limit > 0 && int64(len(all)) > limit {
			break
		}
		q.Set("continue", token)
	}
	if limit > 0 && int64(len(all)) > limit {
		all = all[:limit]
	}
	return all, nil
}

func (v revision) version() string { return v.object.Object("metadata").String("resourceVersion") }

// managers returns the field managers whose entries the revision changed. An entry is the same if
// its fields were changed twice within a second, and unknown if the previous revision is. The
// managers of the latest entries are then returned.
func (v revision) managers() string {
	if v.event == "DELETED" {
		return ""
	}
	var changed, latest []string
	before, newest := v.previous.Object("metadata").List("managedFields"), ""
	for _, entry := range v.object.Object("metadata").Objects("managedFields") {
		name, at := entry.String("manager"), entry.String("time")
		if !slices.ContainsFunc(before, func(old any) bool { return tree.StrictEqual(old, entry) }) && !slices.Contains(changed, name) {
			changed = append(changed, name)
		}
		if at > newest {
			newest, latest = at, nil
		}
		if at == newest && !slices.Contains(latest, name) {
			latest = append(latest, name)
		}
	}
	if len(changed) == 0 || v.previous == nil && v.event != "ADDED" {
		changed = latest
	}
	return strings.Join(changed, ",")
}

// pastQuery returns the parameters of a read of the past, which at gives as a revision or time.
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
	Stage, Verb            string
	User, ImpersonatedUser struct{ Username string }
	ObjectRef              struct{ Resource, Namespace, Name, APIGroup, Subresource string }
	ResponseStatus         struct{ Code int }
	ResponseObject         struct {
		Metadata struct{ ResourceVersion string }
	}
	RequestReceivedTimestamp time.Time
	StageTimestamp           time.Time
}

func newAuditLog(path string) (l auditLog, err error) {
	if path == "" {
		return nil, nil
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("--audit-log: %w", err)
	}
	defer file.Close()
	lines := bufio.NewReader(file)
	for err == nil {
		var line []byte
		line, err = lines.ReadBytes('\n')
		var e auditEvent
		if !bytes.Contains(line, []byte(`"ResponseComplete"`)) || json.Unmarshal(line, &e) != nil || e.ResponseStatus.Code >= 300 {
			continue
		}
		switch e.Verb {
		case "create", "update", "patch", "delete", "deletecollection":
			l = append(l, e)
		}
	}
	if !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("--audit-log: %w", err)
	}
	return l, nil
}

// user returns the user of the write whose response had the revision, or during which it was
// committed.
func (l auditLog) user(one selection, name string, v revision) string {
	at, _ := time.Parse(time.RFC3339, v.time)
	during := ""
	for _, e := range l {
		of := e.ObjectRef
		if of.Resource != one.resource.Name || of.APIGroup != one.resource.Group || of.Namespace != one.namespace || of.Name != name && of.Name != "" {
			continue
		}
		user := e.User.Username
		if e.ImpersonatedUser.Username != "" {
			user = e.ImpersonatedUser.Username
		}
		switch {
		case e.ResponseObject.Metadata.ResourceVersion == v.version() && of.Name == name:
			return user
		case !at.Before(e.RequestReceivedTimestamp) && !at.After(e.StageTimestamp):
			during = user
		}
	}
	return during
}
