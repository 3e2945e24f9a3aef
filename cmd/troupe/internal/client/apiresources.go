package client

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/troupe-api/troupe/cmd/troupe/internal/client/discovery"
	"github.com/troupe-api/troupe/cmd/troupe/internal/client/printer"
)

func apiResources(f *connectionFlags) *cobra.Command {
	var output, sortBy, group, namespaced string
	var verbs, categories []string
	noHeaders := false
	c := &cobra.Command{
		Use:   "api-resources",
		Short: "List the resource types of the server",
		Args:  cobra.NoArgs,
	}
	c.Flags().StringVarP(&output, "output", "o", "", "Output format: wide adds verbs and categories; name prints only names.")
	c.Flags().StringVar(&sortBy, "sort-by", "", "Sort by name or kind.")
	c.Flags().StringVar(&group, "api-group", "", "List only resources of this group; '' is the core group.")
	c.Flags().StringVar(&namespaced, "namespaced", "", "List only namespaced (true) or cluster-scoped (false) resources.")
	c.Flags().StringSliceVar(&verbs, "verbs", nil, "List only resources with all of these verbs.")
	c.Flags().StringSliceVar(&categories, "categories", nil, "List only resources in all of these categories.")
	c.Flags().BoolVar(&noHeaders, "no-headers", false, "Do not print headers.")
	c.Flags().Lookup("namespaced").NoOptDefVal = "true"
	c.RunE = f.run(func(s *session, _ []string) error {
		catalog, err := s.served()
		if err != nil {
			return err
		}
		if output != "" && output != "wide" && output != "name" {
			return usageError("--output " + output + " is not available: wide or name")
		}
		all := slices.DeleteFunc(catalog.Preferred(), func(r *discovery.Resource) bool {
			return c.Flags().Changed("api-group") && r.Group != group ||
				namespaced != "" && (namespaced == "true") != r.Namespaced ||
				!containsAll(r.Verbs, verbs) || !containsAll(r.Categories, categories)
		})
		sortResources(all, sortBy)
		grid := &printer.Grid{}
		if !noHeaders && output != "name" {
			headers := []string{"NAME", "SHORTNAMES", "APIVERSION", "NAMESPACED", "KIND"}
			if output == "wide" {
				headers = append(headers, "VERBS", "CATEGORIES")
			}
			grid.Row(headers...)
		}
		for _, r := range all {
			if output == "name" {
				s.printf("%s\n", r.FullName())
				continue
			}
			scope := "false"
			if r.Namespaced {
				scope = "true"
			}
			cells := []string{r.Name, strings.Join(r.ShortNames, ","), r.APIVersion(), scope, r.Kind}
			if output == "wide" {
				cells = append(cells, strings.Join(r.Verbs, ","), strings.Join(r.Categories, ","))
			}
			grid.Row(cells...)
		}
		if err := grid.Flush(s.out); err != nil {
			return err
		}
		if len(catalog.Broken) > 0 {
			return &Error{Text: "error: no discovery of " + strings.Join(catalog.Broken, ", ") + ": its server is unavailable"}
		}
		return nil
	})
	return c
}

func containsAll(have, wanted []string) bool {
	return !slices.ContainsFunc(wanted, func(w string) bool { return !slices.Contains(have, w) })
}

// sortResources sorts by the given column, or by group and name.
func sortResources(all []*discovery.Resource, by string) {
	slices.SortStableFunc(all, func(a, b *discovery.Resource) int {
		switch by {
		case "kind":
			return strings.Compare(a.Kind, b.Kind)
		case "name":
			return strings.Compare(a.Name, b.Name)
		}
		if a.Group != b.Group {
			return strings.Compare(a.Group, b.Group)
		}
		return strings.Compare(a.Name, b.Name)
	})
}

func apiVersions(f *connectionFlags) *cobra.Command {
	return &cobra.Command{
		Use:   "api-versions",
		Short: "List the API versions of the server",
		Args:  cobra.NoArgs,
		RunE: f.run(func(s *session, _ []string) error {
			catalog, err := s.served()
			if err != nil {
				return err
			}
			versions := slices.Clone(catalog.Versions)
			slices.Sort(versions)
			for _, v := range versions {
				s.printf("%s\n", v)
			}
			return nil
		}),
	}
}
