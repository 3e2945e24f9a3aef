package http

import (
	"bytes"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/selector"
)

// listOptions are the parameters of list, watch and deletecollection.
type listOptions struct {
	labels         selector.Labels
	fields         selector.Fields
	selectors      string // their text
	version, match string
	token          string
	limit          int64
	timeout        time.Duration // 0: none given
	watch          bool
	bookmarks      bool
	// initial is sendInitialEvents; sent tells whether it was given.
	initial, sent bool
}

// parseListOptions reads and checks them all.
func (s *Server) parseListOptions(k *schema.Kind, q query, watch bool) (o listOptions, err error) {
	o.watch = watch
	if q == "" {
		return o, nil
	}
	if o.limit, err = q.number("limit"); err != nil {
		return o, err
	}
	seconds, err := q.number("timeoutSeconds")
	if err != nil {
		return o, err
	}
	o.timeout = time.Duration(min(max(seconds, 0), 1<<31)) * time.Second
	labels, fields := q.get("labelSelector"), q.get("fieldSelector")
	if o.labels, err = selector.ParseLabels(labels); err != nil {
		return o, err
	}
	if o.fields, err = selector.ParseFields(k, fields); err != nil {
		return o, err
	}
	if labels != "" || fields != "" {
		o.selectors = labels + "&" + fields
	}
	o.version, o.match, o.token = q.get("resourceVersion"), q.get("resourceVersionMatch"), q.get("continue")
	o.bookmarks = q.flag("allowWatchBookmarks")
	_, o.sent = q.lookup("sendInitialEvents")
	o.initial = q.flag("sendInitialEvents")
	return o, s.invalidOptions("ListOptions", o.faults())
}

// The values of resourceVersionMatch.
const (
	matchExact        = "Exact"
	matchNotOlderThan = "NotOlderThan"
)

// The parameters that faults are about.
const (
	fieldMatch   = "resourceVersionMatch"
	fieldInitial = "sendInitialEvents"
)

const matchWithToken = "resourceVersionMatch is forbidden when continue is provided"

// faults finds the parameters that do not go together.
func (o *listOptions) faults() (f schema.Faults) {
	if o.watch {
		o.watchFaults(&f)
	} else {
		o.listFaults(&f)
	}
	return f
}

func (o *listOptions) listFaults(f *schema.Faults) {
	if o.match != "" {
		if o.version == "" {
			f.Forbidden(fieldMatch, "resourceVersionMatch is forbidden unless resourceVersion is provided")
		}
		if o.token != "" {
			f.Forbidden(fieldMatch, matchWithToken)
		}
		if o.match != matchExact && o.match != matchNotOlderThan {
			f.NotSupported(fieldMatch, o.match, []string{matchExact, matchNotOlderThan, ""})
		}
		if o.match == matchExact && o.version == "0" {
			f.Forbidden(fieldMatch, `resourceVersionMatch "exact" is forbidden for resourceVersion "0"`)
		}
	}
	if o.sent {
		f.Forbidden(fieldInitial, "sendInitialEvents is forbidden for list")
	}
}

func (o *listOptions) watchFaults(f *schema.Faults) {
	if o.sent && o.match != matchNotOlderThan {
		f.Forbidden(fieldMatch, "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan")
	}
	if o.match == "" {
		return
	}
	if !o.sent {
		f.Forbidden(fieldMatch, "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided")
	}
	if o.match != matchNotOlderThan {
		f.NotSupported(fieldMatch, o.match, []string{matchNotOlderThan})
	}
	if o.token != "" {
		f.Forbidden(fieldMatch, matchWithToken)
	}
}

// parseVersion reads an optional resource version.
func parseVersion(s string) (uint64, error) {
	if s == "" {
		return 0, nil
	}
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		return 0, badRequest("invalid resource version: resourceVersion: Invalid value: " + strconv.Quote(s) + ": " + err.Error())
	}
	return n, nil
}

// list makes the request for the store.
func (o *listOptions) list(k *schema.Kind, i *Info) (request.List, error) {
	l := request.List{
		Kind: k, Labels: o.labels, Fields: o.fields,
		Limit: int(min(max(o.limit, 0), 1<<31)), Continue: o.token, Selectors: o.selectors,
	}
	if k.Namespaced {
		l.Namespace = i.Namespace
	}
	if o.token != "" {
		if o.version != "" && o.version != "0" {
			return l, badRequest("specifying resource version is not allowed when using continue")
		}
		return l, nil
	}
	version, err := parseVersion(o.version)
	if err != nil {
		return l, err
	}
	l.Version = version
	switch {
	case o.version == "":
		l.Match = request.MatchMostRecent
	case version == 0:
		l.Match = request.MatchAny
	case o.match == matchExact, o.match == "" && l.Limit > 0:
		l.Match = request.MatchExact
	default:
		l.Match = request.MatchNotOlderThan
	}
	return l, nil
}

// watchRequest makes the request for the store; newest is its current version.
func (o *listOptions) watchRequest(k *schema.Kind, i *Info, newest func() uint64) (request.Watch, error) {
	w := request.Watch{Kind: k, Labels: o.labels, Fields: o.fields, Bookmarks: o.bookmarks}
	if k.Namespaced {
		w.Namespace = i.Namespace
	}
	version, err := parseVersion(o.version)
	if err != nil {
		return w, err
	}
	w.Version = version
	switch {
	case o.sent && o.initial, !o.sent && version == 0:
		w.Initial, w.InitialEnd = true, o.bookmarks
	case version == 0:
		w.Version = newest()
	}
	return w, nil
}

// writeOptions are the parameters of create, update, patch and delete.
type writeOptions struct {
	dryRun     bool
	validation request.FieldValidation
	manager    string
	force      bool // of an apply
}

// maxManager is the longest name of a field manager, in bytes.
const maxManager = 128

// applyOptions are PatchOptions of an apply.
const applyOptions = "apply"

// parseWriteOptions checks them; kind is as in "CreateOptions".
func (s *Server) parseWriteOptions(kind string, q query, userAgent []byte) (o writeOptions, err error) {
	var f schema.Faults
	if kind == applyOptions && q.get("fieldManager") == "" {
		f.Required("fieldManager", "is required for apply patch")
	}
	if q == "" {
		o.manager = managerOf(userAgent)
		return o, s.invalidOptions("PatchOptions", f)
	}
	o.dryRun = dryRun(q.all("dryRun"), &f)
	if m := q.get("fieldManager"); m != "" {
		o.manager = m
		checkManager(m, &f)
	} else {
		o.manager = managerOf(userAgent)
	}
	o.validation = fieldValidation(q, &f)
	switch _, forced := q.lookup("force"); {
	case kind == applyOptions:
		kind, o.force = "PatchOptions", q.flag("force")
	case kind == "PatchOptions" && forced:
		f.Forbidden("force", "may not be specified for non-apply patch")
	}
	return o, s.invalidOptions(kind, f)
}

// fieldValidation reads what shall become of unknown and duplicate fields.
func fieldValidation(q query, f *schema.Faults) request.FieldValidation {
	switch v := q.get("fieldValidation"); v {
	case "", "Warn":
	case "Ignore":
		return request.Ignore
	case "Strict":
		return request.Strict
	default:
		f.NotSupported("fieldValidation", v, []string{"", "Ignore", "Strict", "Warn"})
	}
	return request.Warn
}

// dryRun reads the stages of a dry run; none asks for the real thing.
func dryRun(stages []string, f *schema.Faults) bool {
	for _, stage := range stages {
		if stage != "All" {
			quoted := make([]string, len(stages))
			for i, s := range stages {
				quoted[i] = strconv.Quote(s)
			}
			f.List = append(f.List, meta.Cause{
				Type: meta.CauseNotSupported, Field: "dryRun",
				Message: "Unsupported value: [" + strings.Join(quoted, ",") + `]: supported values: "All"`,
			})
			return false
		}
	}
	return len(stages) > 0
}

func checkManager(m string, f *schema.Faults) {
	if len(m) > maxManager {
		f.TooLong("fieldManager", maxManager)
	}
	for _, r := range m {
		if !unicode.IsPrint(r) {
			f.Invalid("fieldManager", m, "should only contain printable characters")
			return
		}
	}
}

// managerOf derives a field manager from the client's name.
func managerOf(userAgent []byte) string {
	before, _, _ := bytes.Cut(userAgent, []byte("/"))
	name := strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, string(before))
	if name == "" {
		return "unknown"
	}
	return name[:min(len(name), maxManager)]
}
