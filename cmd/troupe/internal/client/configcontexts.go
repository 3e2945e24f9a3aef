package client

import (
	"fmt"
	"io"
	"slices"

	"github.com/troupe-api/troupe/cmd/troupe/internal/client/printer"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy/kubeconfig"
)

type getContexts struct {
	NoHeaders bool
	Output    string
}

func (o *getContexts) runLocal(f *connectionFlags, out io.Writer, args []string) error {
	view, err := f.rules().View()
	if err != nil {
		return err
	}
	current, _ := view["current-context"].(string)
	grid := &printer.Grid{}
	if !o.NoHeaders && o.Output != "name" {
		grid.Row("CURRENT", "NAME", "CLUSTER", "AUTHINFO", "NAMESPACE")
	}
	names := entryNames(view, "contexts")
	slices.Sort(names)
	for _, wanted := range args {
		if !slices.Contains(names, wanted) {
			return fmt.Errorf("context %q not found", wanted)
		}
	}
	for _, name := range names {
		mark := ""
		if name == current {
			mark = "*"
		}
		switch {
		case len(args) > 0 && !slices.Contains(args, name):
		case o.Output == "name":
			grid.Row(name)
		default:
			t, _ := tree.Of(kubeconfig.Entry(view, "contexts", name)).(tree.Tree)
			pair := t.Object("context")
			grid.Row(mark, name, pair.String("cluster"), pair.String("user"), pair.String("namespace"))
		}
	}
	return grid.Flush(out)
}
