package client

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/troupe-api/troupe/cmd/troupe/internal/client/discovery"
	"github.com/troupe-api/troupe/cmd/troupe/internal/commands"
	"github.com/troupe-api/troupe/kinds/tree"
)

// completion returns the completion function that commands.yaml declares for an argument or a flag,
// or nil.
func (f *connectionFlags) completion(declared string) commands.Completion {
	switch kind, what, _ := strings.Cut(declared, " "); kind {
	case "objects":
		return f.completeObjects(what)
	case "names":
		return f.fromServer(func(s *session, _ []string, _ string) []string { return s.completeNames(what, "") })
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

func (f *connectionFlags) fromServer(complete func(s *session, args []string, word string) []string) commands.Completion {
	return func(c *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
		s, err := f.session(c.Context(), c, nil)
		if err == nil {
			_, err = s.served()
		}
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		return complete(s, args, word), cobra.ShellCompDirectiveNoFileComp
	}
}

// completeObjects completes resource types and object names. If verb is set, it offers only types
// that support it.
func (f *connectionFlags) completeObjects(verb string) commands.Completion {
	return f.fromServer(func(s *session, args []string, word string) (all []string) {
		typed, _, slashed := strings.Cut(word, "/")
		switch {
		case slashed:
			return s.completeNames(typed, typed+"/")
		case len(args) > 0 && strings.Contains(args[0], "/"):
			return nil
		case len(args) > 0:
			return s.completeNames(args[0], "")
		}
		before := word[:strings.LastIndexByte(word, ',')+1]
		for _, r := range s.catalog.Preferred() {
			if verb == "" || r.Has(verb) {
				all = append(all, before+r.FullName())
			}
		}
		return all
	})
}

func (s *session) completeNames(word, prefix string) (all []string) {
	r, err := s.catalog.Find(word)
	if err != nil {
		return nil
	}
	_ = r.Pages(s.ctx, s.Client, s.namespaceOf(r, false), nil, "", discovery.PageSize, func(t tree.Tree) error {
		for _, item := range t.Objects("items") {
			all = append(all, prefix+item.Name())
		}
		return nil
	})
	return all
}
