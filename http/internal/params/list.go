package params

import (
	"time"

	"github.com/troupe-api/troupe/http/internal/apierrors"
	"github.com/troupe-api/troupe/http/internal/requestinfo"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/selector"
)

// A List holds the parameters of list, watch and deletecollection. The text of the selectors is part of
// what a continue token is checked against: a token continues the list that it came from, and no other.
type List struct {
	Labels selector.Labels
	Fields selector.Fields
	// Timeout is how long a watch lasts: 0 if none is given, and below 0 for one that ends at once.
	Timeout                               time.Duration
	selectors                             string // their text
	resourceVersion, resourceVersionMatch string
	continueToken                         string
	limit                                 int64
	watch                                 bool
	bookmarks                             bool
	// hasSendInitialEvents tells whether sendInitialEvents was given.
	sendInitialEvents, hasSendInitialEvents bool
}

// ListRules are what the parameters of all lists are read by.
type ListRules struct {
	MetaGroup        string // of ListOptions
	DisableChunking  bool   // limits and continue tokens do not count
	DisableWatchList bool   // watches may not ask for their initial events
}

// ParseList reads and checks them all; k is what is listed.
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
	// Larger numbers of seconds would overflow a Duration.
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
	f := o.validate(r)
	if r.DisableChunking {
		o.limit, o.continueToken = 0, ""
	}
	return o, apierrors.InvalidOptions(r.MetaGroup, "ListOptions", f)
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

// matchWithContinue says why: a token already fixes the version that the list is at.
const matchWithContinue = "resourceVersionMatch is forbidden when continue is provided"

// validate finds the parameters that do not go together. Lists and watches have the same parameters but not
// the same rules for them.
func (o *List) validate(r ListRules) (f schema.Faults) {
	if o.watch {
		o.validateWatch(r, &f)
	} else {
		o.validateList(&f)
	}
	return f
}

// No match is an error without a version to match; version "0" stands for any, which nothing can equal
// exactly.
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

// Informers send sendInitialEvents with NotOlderThan: the stream then begins with the state at that version
// or later. The match has no other use in a watch.
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

// Request makes the request for the store. Without a version a list is of the newest state; "0" accepts any
// state, and another version means not older than, or exactly that one for a page of a limited list. The
// path's namespace is ignored for kinds without one.
func (o *List) Request(k *schema.Kind, i *requestinfo.Info) (request.List, error) {
	l := request.List{
		Kind: k, Labels: o.Labels, Fields: o.Fields,
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

// WatchRequest makes the request for the store; newest is its current version. A watch without a version,
// or from "0", begins with an ADDED event for each object, as clients from before sendInitialEvents expect.
// newest is called late, for it must not be older than the moment when the watch begins.
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
