package client

import (
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"github.com/troupe-api/troupe/kinds/tree"
)

func quota(f *pflag.FlagSet) func(*generated) (tree.Tree, error) {
	var hard, scopes []string
	f.StringSliceVar(&hard, "hard", nil, "Most of a resource: pods=10,requests.cpu=4.")
	f.StringSliceVar(&scopes, "scopes", nil, "Scopes of what counts.")
	return func(*generated) (tree.Tree, error) {
		spec := tree.Tree{}
		for _, text := range hard {
			name, amount, ok := strings.Cut(text, "=")
			if !ok || name == "" || amount == "" {
				return nil, usageError(fmt.Sprintf("invalid argument syntax %v, expected <resource>=<value>", text))
			}
			spec.EnsureObject("hard")[name] = amount
		}
		if len(scopes) > 0 {
			spec["scopes"] = tree.ListOf(scopes)
		}
		return tree.Tree{"spec": spec}, nil
	}
}
