package client

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/troupe-api/troupe/cmd/troupe/internal/client/discovery"
	"github.com/troupe-api/troupe/cmd/troupe/internal/client/printer"
)

type apiResources struct {
	Output, SortBy, APIGroup, Namespaced string
	Verbs, Categories                    []string
	NoHeaders                            bool
}

func (o *apiResources) run(s *session, _ []string) error {
	catalog, err := s.served()
	if err != nil {
		return err
	}
	if o.Output != "" && o.Output != "wide" && o.Output != "name" {
		return usageError("--output " + o.Output + " is not available: wide or name")
	}
	all := slices.DeleteFunc(catalog.Preferred(), func(r *discovery.Resource) bool {
		return s.command.Flags().Changed("api-group") && r.Group != o.APIGroup ||
			o.Namespaced != "" && (o.Namespaced == "true") != r.Namespaced ||
			!containsAll(r.Verbs, o.Verbs) || !containsAll(r.Categories, o.Categories)
	})
	sortResources(all, o.SortBy)
	grid := &printer.Grid{}
	if !o.NoHeaders && o.Output != "name" {
		headers := []string{"NAME", "SHORTNAMES", "APIVERSION", "NAMESPACED", "KIND"}
		if o.Output == "wide" {
			headers = append(headers, "VERBS", "CATEGORIES")
		}
		grid.Row(headers...)
	}
	for _, r := range all {
		if o.Output == "name" {
			s.printf("%s\n", r.FullName())
			continue
		}
		cells := []string{r.Name, strings.Join(r.ShortNames, ","), r.APIVersion(), strconv.FormatBool(r.Namespaced), r.Kind}
		if o.Output == "wide" {
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
}

func containsAll(have, wanted []string) bool {
	return !slices.ContainsFunc(wanted, func(w string) bool { return !slices.Contains(have, w) })
}

func sortResources(all []*discovery.Resource, by string) {
	slices.SortStableFunc(all, func(a, b *discovery.Resource) int {
		switch by {
		case "kind":
			return strings.Compare(a.Kind, b.Kind)
		case "name":
			return strings.Compare(a.Name, b.Name)
		}
		return cmp.Or(strings.Compare(a.Group, b.Group), strings.Compare(a.Name, b.Name))
	})
}

type apiVersions struct{}

func (apiVersions) run(s *session, _ []string) error {
	catalog, err := s.served()
	if err != nil {
		return err
	}
	for _, v := range slices.Sorted(slices.Values(catalog.Versions)) {
		s.printf("%s\n", v)
	}
	return nil
}
