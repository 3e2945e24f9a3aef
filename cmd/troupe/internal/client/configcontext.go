package client

import (
	"fmt"
	"io"

	"github.com/troupe-api/troupe/policy/kubeconfig"
)

type currentContext struct{}

func (currentContext) runLocal(f *connectionFlags, out io.Writer, _ []string) error {
	view, err := f.rules().View()
	if err != nil {
		return err
	}
	current, _ := view["current-context"].(string)
	if current == "" {
		return usageError("current-context is not set")
	}
	fmt.Fprintln(out, current)
	return nil
}

type useContext struct{}

func (useContext) runLocal(f *connectionFlags, out io.Writer, args []string) error {
	rules := f.rules()
	view, err := rules.View()
	if err != nil {
		return err
	}
	if kubeconfig.Entry(view, "contexts", args[0]) == nil {
		return fmt.Errorf("no context exists with the name: %q", args[0])
	}
	// Of several kubeconfig files, edit the first that sets the current context, because its value
	// takes precedence.
	err = kubeconfig.Edit(rules.Target("contexts", ""), func(file map[string]any) error { file["current-context"] = args[0]; return nil })
	if err == nil {
		fmt.Fprintf(out, "Switched to context %q.\n", args[0])
	}
	return err
}
