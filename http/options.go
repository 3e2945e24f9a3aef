package http

import (
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
	if o.limit, err = parseInt(q.get("limit")); err != nil {
		return o, err
	}
	seconds, err := parseInt(q.get("timeoutSeconds"))
	if err != nil {
		return o, err
	}
	o.timeout = time.Duration(min(max(seconds, 0), 1<<31)) * time.Second
	if o.labels, err = selector.ParseLabels(q.get("labelSelector")); err != nil {
		return o, err
	}
	if o.fields, err = selector.ParseFields(k, q.get("fieldSelector")); err != nil {
		return o, err
	}
	o.version, o.match, o.token = q.get("resourceVersion"), q.get("resourceVersionMatch"), q.get("continue")
	o.bookmarks = q.flag("allowWatchBookmarks")
	_, o.sent = q.lookup("sendInitialEvents")
	o.initial = q.flag("sendInitialEvents")
	return o, s.invalidOptions("ListOptions", o.faults())
}

func (o *listOptions) faults() (f schema.Faults) {
	const field = "resourceVersionMatch"
	if o.watch {
		switch {
		case o.sent && o.match != "NotOlderThan":
			f.Forbidden(field, "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan")
		case !o.sent && o.match != "":
			f.Forbidden(field, "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided")
		}
		return f
	}
	if o.sent {
		f.Forbidden("sendInitialEvents", "sendInitialEvents is forbidden for list")
	}
	if o.match == "" {
		return f
	}
	if o.version == "" {
		f.Forbidden(field, "resourceVersionMatch is forbidden unless resourceVersion is provided")
	}
	if o.token != "" {
		f.Forbidden(field, "resourceVersionMatch is forbidden when continue is provided")
	}
	switch {
	case o.match != "Exact" && o.match != "NotOlderThan":
		f.NotSupported(field, o.match, []string{"Exact", "NotOlderThan", ""})
	case o.match == "Exact" && o.version == "0":
		f.Forbidden(field, `resourceVersionMatch "exact" is forbidden for resourceVersion "0"`)
	}
	return f
}

// parseInt reads an optional number, in the words of Go's own parser.
func parseInt(s string) (int64, error) {
	if s == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return 0, badRequest(err.Error())
	}
	return n, nil
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
		Limit: int(min(max(o.limit, 0), 1<<31)), Continue: o.token,
	}
	if k.Namespaced {
		l.Namespace = i.Namespace
	}
	version, err := parseVersion(o.version)
	switch {
	case err != nil:
		return l, err
	case o.token != "" && version != 0:
		return l, badRequest("specifying resource version is not allowed when using continue")
	case o.token != "":
		return l, nil
	}
	l.Version = version
	switch {
	case o.version == "":
		l.Match = request.MatchMostRecent
	case version == 0:
		l.Match = request.MatchAny
	case o.match == "Exact", o.match == "" && l.Limit > 0:
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
	case o.sent && o.initial:
		w.Initial, w.InitialEnd = true, o.bookmarks
	case version != 0:
	case o.sent:
		w.Version = newest()
	default:
		w.Initial = true
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
	o.manager = managerOf(userAgent)
	var f schema.Faults
	if kind == applyOptions && q.get("fieldManager") == "" {
		f.Required("fieldManager", "is required for apply patch")
	}
	if q == "" {
		return o, s.invalidOptions("PatchOptions", f)
	}
	o.dryRun = dryRun(q.all("dryRun"), &f)
	if m := q.get("fieldManager"); m != "" {
		o.manager = m
		checkManager(m, &f)
	}
	switch v := q.get("fieldValidation"); v {
	case "", "Warn":
	case "Ignore":
		o.validation = request.Ignore
	case "Strict":
		o.validation = request.Strict
	default:
		f.NotSupported("fieldValidation", v, []string{"", "Ignore", "Strict", "Warn"})
	}
	switch _, forced := q.lookup("force"); {
	case kind == applyOptions:
		kind, o.force = "PatchOptions", q.flag("force")
	case kind == "PatchOptions" && forced:
		f.Forbidden("force", "may not be specified for non-apply patch")
	}
	return o, s.invalidOptions(kind, f)
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
	name, _, _ := strings.Cut(string(userAgent), "/")
	name = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, name)
	if name == "" {
		return "unknown"
	}
	return name[:min(len(name), maxManager)]
}
