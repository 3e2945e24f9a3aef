package client

import (
	"cmp"
	"net/url"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/troupe-api/troupe/cmd/troupe/internal/client/printer"
	"github.com/troupe-api/troupe/kinds/tree"
)

func events(f *connectionFlags) *cobra.Command {
	var everywhere, noHeaders bool
	about, types := "", ""
	c := &cobra.Command{Use: "events", Short: "List what was told of objects, the oldest first", Args: cobra.NoArgs}
	c.Flags().BoolVarP(&everywhere, "all-namespaces", "A", false, "In all namespaces.")
	c.Flags().BoolVar(&noHeaders, "no-headers", false, "Leave out the headers.")
	c.Flags().StringVar(&about, "for", "", "Only of one object: TYPE/NAME.")
	c.Flags().StringVar(&types, "types", "", "Only of these types: Normal,Warning.")
	c.RunE = f.run(func(s *session, _ []string) error {
		catalog, err := s.served()
		if err != nil {
			return err
		}
		r, err := catalog.Own("", "events")
		if err != nil {
			return err
		}
		q := url.Values{}
		if about != "" {
			word, name, ok := strings.Cut(about, "/")
			if !ok {
				return usageError("--for must be in resource/name form")
			}
			of, err := catalog.Find(word)
			if err != nil {
				return err
			}
			q.Set("fieldSelector", "involvedObject.kind="+of.Kind+",involvedObject.name="+name)
		}
		all, err := s.list(r, s.namespaceOf(r, everywhere), q)
		if err != nil {
			return err
		}
		all = slices.DeleteFunc(all, func(o object) bool {
			return types != "" && !slices.Contains(strings.Split(strings.ToLower(types), ","), strings.ToLower(o.tree.String("type")))
		})
		if len(all) == 0 {
			s.nothingFound(&getOptions{targetFlags: targetFlags{everywhere: everywhere}}, []selection{{resource: r}})
			return nil
		}
		last := func(t tree.Tree) string {
			return cmp.Or(t.String("lastTimestamp"), t.String("eventTime"), t.Object("metadata").String("creationTimestamp"))
		}
		slices.SortStableFunc(all, func(a, b object) int { return strings.Compare(last(a.tree), last(b.tree)) })
		grid := &printer.Grid{}
		headers := []string{"LAST SEEN", "TYPE", "REASON", "OBJECT", "MESSAGE"}
		if everywhere {
			headers = append([]string{"NAMESPACE"}, headers...)
		}
		if !noHeaders {
			grid.Row(headers...)
		}
		for _, o := range all {
			t := o.tree
			cells := []string{eventAge(t), t.String("type"), t.String("reason"), t.Object("involvedObject").String("kind") + "/" + t.Object("involvedObject").String("name"), strings.TrimSpace(t.String("message"))}
			if everywhere {
				cells = append([]string{o.namespace()}, cells...)
			}
			grid.Row(cells...)
		}
		return grid.Flush(s.out)
	})
	return c
}
