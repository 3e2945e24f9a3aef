package client

import (
	"cmp"
	"net/url"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/troupe-api/troupe/cmd/troupe/internal/client/discovery"
	"github.com/troupe-api/troupe/cmd/troupe/internal/client/printer"
	"github.com/troupe-api/troupe/kinds/tree"
)

// eventsOptions are the flags of events.
type eventsOptions struct {
	everywhere, noHeaders, watch bool
	about, types                 string
}

func events(f *connectionFlags) *cobra.Command {
	o := &eventsOptions{}
	c := &cobra.Command{Use: "events", Short: "List what was told of objects, the oldest first", Args: cobra.NoArgs}
	c.Flags().BoolVarP(&o.everywhere, "all-namespaces", "A", false, "In all namespaces.")
	c.Flags().BoolVar(&o.noHeaders, "no-headers", false, "Leave out the headers.")
	c.Flags().BoolVarP(&o.watch, "watch", "w", false, "Go on with what is told from now on.")
	c.Flags().StringVar(&o.about, "for", "", "Only of one object: TYPE/NAME.")
	c.Flags().StringVar(&o.types, "types", "", "Only of these types: Normal,Warning.")
	c.RunE = f.run(func(s *session, _ []string) error { return s.showEvents(o) })
	return c
}

func (s *session) showEvents(o *eventsOptions) error {
	catalog, err := s.served()
	if err != nil {
		return err
	}
	r, err := catalog.Own("", "events")
	if err != nil {
		return err
	}
	q, err := o.query(catalog)
	if err != nil {
		return err
	}
	var all []tree.Tree
	version := ""
	err = s.pages(r, s.namespaceOf(r, o.everywhere), q, "", pageSize, func(t tree.Tree) error {
		version = t.Object("metadata").String("resourceVersion")
		all = append(all, t.Objects("items")...)
		return nil
	})
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(t tree.Tree) bool { return !o.wanted(t) })
	if len(all) == 0 && !o.watch {
		s.nothingFound(&getOptions{targetFlags: targetFlags{everywhere: o.everywhere}}, []selection{{resource: r}})
		return nil
	}
	slices.SortStableFunc(all, func(a, b tree.Tree) int { return strings.Compare(lastSeen(a), lastSeen(b)) })
	if err := s.printEvents(o, all, !o.noHeaders); err != nil || !o.watch {
		return err
	}
	return s.follow(s.ctx, r, s.namespaceOf(r, o.everywhere), q, "", version, func(e event) error {
		if e.kind == "DELETED" || !o.wanted(e.object) {
			return nil
		}
		return s.printEvents(o, []tree.Tree{e.object}, false)
	})
}

// query selects the events of the object that is asked for.
func (o *eventsOptions) query(catalog *discovery.Catalog) (url.Values, error) {
	if o.about == "" {
		return url.Values{}, nil
	}
	word, name, ok := strings.Cut(o.about, "/")
	if !ok {
		return nil, usageError("--for must be in resource/name form")
	}
	of, err := catalog.Find(word)
	if err != nil {
		return nil, err
	}
	return url.Values{"fieldSelector": {"involvedObject.kind=" + of.Kind + ",involvedObject.name=" + name}}, nil
}

// wanted tells whether an event is of a type that is asked for.
func (o *eventsOptions) wanted(t tree.Tree) bool {
	return o.types == "" || slices.Contains(strings.Split(strings.ToLower(o.types), ","), strings.ToLower(t.String("type")))
}

// lastSeen is when an event happened last.
func lastSeen(t tree.Tree) string {
	return cmp.Or(t.String("lastTimestamp"), t.String("eventTime"), t.Object("metadata").String("creationTimestamp"))
}

func (s *session) printEvents(o *eventsOptions, all []tree.Tree, headers bool) error {
	grid := &printer.Grid{}
	row := func(namespace string, cells ...string) {
		if o.everywhere {
			cells = append([]string{namespace}, cells...)
		}
		grid.Row(cells...)
	}
	if headers {
		row("NAMESPACE", "LAST SEEN", "TYPE", "REASON", "OBJECT", "MESSAGE")
	}
	for _, t := range all {
		about := t.Object("involvedObject")
		row(t.Object("metadata").String("namespace"), eventAge(t), t.String("type"), t.String("reason"), about.String("kind")+"/"+about.String("name"), strings.TrimSpace(t.String("message")))
	}
	return grid.Flush(s.out)
}
