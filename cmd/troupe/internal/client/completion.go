package client

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/troupe-api/troupe/kinds/tree"
)

// completion completes an argument or a flag value.
type completion = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective)

// completion returns the completion of arguments that the table of commands declares.
func (f *connectionFlags) completion(declared string) completion {
	switch kind, what, _ := strings.Cut(declared, " "); kind {
	case "objects":
		return f.completeObjects(what)
	case "names":
		return f.completeNamesOf(what)
	case "entries":
		return f.completeEntries(what)
	case "verbs":
		return func(c *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
			if len(args) == 0 {
				return []string{"get", "list", "watch", "create", "update", "patch", "delete", "deletecollection", "*"}, cobra.ShellCompDirectiveNoFileComp
			}
			return f.completeObjects("")(c, args[1:], word)
		}
	}
	return nil
}

// completeObjects completes resource types and then object names, from the server. verb restricts
// the types, unless it is "".
func (f *connectionFlags) completeObjects(verb string) completion {
	return func(c *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
		s, err := f.session(c.Context(), c, nil)
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		catalog, err := s.served()
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		if typed, _, slashed := strings.Cut(word, "/"); slashed {
			return s.completeNames(typed, typed+"/"), cobra.ShellCompDirectiveNoFileComp
		}
		if len(args) > 0 {
			if strings.Contains(args[0], "/") {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return s.completeNames(args[0], ""), cobra.ShellCompDirectiveNoFileComp
		}
		before := ""
		if i := strings.LastIndexByte(word, ','); i >= 0 {
			before = word[:i+1]
		}
		var all []string
		for _, r := range catalog.Preferred() {
			if verb == "" || r.Has(verb) {
				all = append(all, before+r.FullName())
			}
		}
		return all, cobra.ShellCompDirectiveNoFileComp
	}
}

// completeNamesOf completes names of objects of one type.
func (f *connectionFlags) completeNamesOf(word string) completion {
	return func(c *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		s, err := f.session(c.Context(), c, nil)
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		return s.completeNames(word, ""), cobra.ShellCompDirectiveNoFileComp
	}
}

// completeNames returns the names of the objects of a type, with a prefix.
func (s *session) completeNames(word, prefix string) (all []string) {
	catalog, err := s.served()
	if err != nil {
		return nil
	}
	r, err := catalog.Find(word)
	if err != nil {
		return nil
	}
	_ = s.pages(r, s.namespaceOf(r, false), nil, "", pageSize, func(t tree.Tree) error {
		for _, item := range t.Objects("items") {
			all = append(all, prefix+item.Object("metadata").String("name"))
		}
		return nil
	})
	return all
}
