package http

import (
	"bytes"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/troupe-api/troupe/http/internal/apierrors"
	"github.com/troupe-api/troupe/http/internal/requestinfo"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/selector"
)

// listOptions are the parameters of list, watch and deletecollection.
type listOptions struct {
	labels                                selector.Labels
	fields                                selector.Fields
	selectors                             string // their text
	resourceVersion, resourceVersionMatch string
	continueToken                         string
	limit                                 int64
	timeout                               time.Duration // 0: none given
	watch                                 bool
	bookmarks                             bool
	// hasSendInitialEvents tells whether sendInitialEvents was given.
	sendInitialEvents, hasSendInitialEvents bool
}

// parseListOptions reads and checks them all.
func (s *Server) parseListOptions(k *schema.Kind, q requestinfo.Query, watch bool) (o listOptions, err error) {
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
	o.timeout = time.Duration(min(max(seconds, 0), 1<<31)) * time.Second
	labels, fields := q.Get("labelSelector"), q.Get("fieldSelector")
	if o.labels, err = selector.ParseLabels(labels); err != nil {
		return o, err
	}
	if o.fields, err = selector.ParseFields(k, fields); err != nil {
		return o, err
	}
	if labels != "" || fields != "" {
		o.selectors = labels + "&" + fields
	}
	o.resourceVersion, o.resourceVersionMatch, o.continueToken = q.Get("resourceVersion"), q.Get("resourceVersionMatch"), q.Get("continue")
	o.bookmarks = q.Flag("allowWatchBookmarks")
	_, o.hasSendInitialEvents = q.Lookup("sendInitialEvents")
	o.sendInitialEvents = q.Flag("sendInitialEvents")
	return o, s.invalidOptions("ListOptions", o.validate())
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

const matchWithContinue = "resourceVersionMatch is forbidden when continue is provided"

// validate finds the parameters that do not go together.
func (o *listOptions) validate() (f schema.Faults) {
	if o.watch {
		o.validateWatch(&f)
	} else {
		o.validateList(&f)
	}
	return f
}

func (o *listOptions) validateList(f *schema.Faults) {
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

func (o *listOptions) validateWatch(f *schema.Faults) {
	if o.hasSendInitialEvents && o.resourceVersionMatch != matchNotOlderThan {
		f.Forbidden(fieldMatch, "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan")
	}
	if o.resourceVersionMatch == "" {
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

// invalidOptions is the answer to faulty options; kind is as in "ListOptions".
func (s *Server) invalidOptions(kind string, faults schema.Faults) error {
	return apierrors.InvalidOptions(s.names.MetaGroup, kind, faults)
}

// parseVersion reads an optional resource version.
func parseVersion(s string) (uint64, error) {
	if s == "" {
		return 0, nil
	}
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		return 0, apierrors.BadRequest("invalid resource version: resourceVersion: Invalid value: " + strconv.Quote(s) + ": " + err.Error())
	}
	return n, nil
}

// listRequest makes the request for the store.
func (o *listOptions) listRequest(k *schema.Kind, i *requestinfo.Info) (request.List, error) {
	l := request.List{
		Kind: k, Labels: o.labels, Fields: o.fields,
		Limit: int(min(max(o.limit, 0), 1<<31)), Continue: o.continueToken, Selectors: o.selectors,
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
	version, err := parseVersion(o.resourceVersion)
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

// watchRequest makes the request for the store; newest is its current version.
func (o *listOptions) watchRequest(k *schema.Kind, i *requestinfo.Info, newest func() uint64) (request.Watch, error) {
	w := request.Watch{Kind: k, Labels: o.labels, Fields: o.fields, Bookmarks: o.bookmarks}
	if k.Namespaced {
		w.Namespace = i.Namespace
	}
	version, err := parseVersion(o.resourceVersion)
	if err != nil {
		return w, err
	}
	w.Version = version
	switch {
	case o.hasSendInitialEvents && o.sendInitialEvents, !o.hasSendInitialEvents && version == 0:
		w.SendInitialEvents, w.MarkInitialEventsEnd = true, o.bookmarks
	case version == 0:
		w.Version = newest()
	}
	return w, nil
}

// writeOptions are the parameters of create, update, patch and delete.
type writeOptions struct {
	dryRun       bool
	validation   request.FieldValidation
	fieldManager string
	force        bool // of an apply
}

// maxFieldManager is the longest name of a field manager, in bytes.
const maxFieldManager = 128

// applyOptions are PatchOptions of an apply.
const applyOptions = "apply"

// parseWriteOptions checks them; kind is as in "CreateOptions".
func (s *Server) parseWriteOptions(kind string, q requestinfo.Query, userAgent []byte) (o writeOptions, err error) {
	var f schema.Faults
	if kind == applyOptions && q.Get("fieldManager") == "" {
		f.Required("fieldManager", "is required for apply patch")
	}
	if q == "" {
		o.fieldManager = defaultFieldManager(userAgent)
		return o, s.invalidOptions("PatchOptions", f)
	}
	o.dryRun = parseDryRun(q.Values("dryRun"), &f)
	if m := q.Get("fieldManager"); m != "" {
		o.fieldManager = m
		validateFieldManager(m, &f)
	} else {
		o.fieldManager = defaultFieldManager(userAgent)
	}
	o.validation = parseFieldValidation(q, &f)
	switch _, forced := q.Lookup("force"); {
	case kind == applyOptions:
		kind, o.force = "PatchOptions", q.Flag("force")
	case kind == "PatchOptions" && forced:
		f.Forbidden("force", "may not be specified for non-apply patch")
	}
	return o, s.invalidOptions(kind, f)
}

// parseFieldValidation reads how unknown and duplicate fields are to be treated.
func parseFieldValidation(q requestinfo.Query, f *schema.Faults) request.FieldValidation {
	switch v := q.Get("fieldValidation"); v {
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

// parseDryRun reads the stages of a dry run; none asks for the real thing.
func parseDryRun(stages []string, f *schema.Faults) bool {
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

func validateFieldManager(m string, f *schema.Faults) {
	if len(m) > maxFieldManager {
		f.TooLong("fieldManager", maxFieldManager)
	}
	for _, r := range m {
		if !unicode.IsPrint(r) {
			f.Invalid("fieldManager", m, "should only contain printable characters")
			return
		}
	}
}

// defaultFieldManager derives a field manager from the client's name.
func defaultFieldManager(userAgent []byte) string {
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
	return name[:min(len(name), maxFieldManager)]
}
