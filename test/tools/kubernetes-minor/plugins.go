package main

import (
	"errors"
	"go/ast"
)

// readPlugins adds the admission plugins and whether they are enabled by default.
func (i inventory) readPlugins(s *source) error {
	p, err := s.load(kubernetes + "/pkg/kubeapiserver/options")
	if err != nil {
		return err
	}
	all, ok := p.constants["AllOrderedPlugins"]
	if !ok {
		return errors.New("no AllOrderedPlugins")
	}
	on := map[string]bool{}
	for _, d := range all.file.Decls {
		if d, ok := d.(*ast.FuncDecl); ok && d.Name.Name == "DefaultOffAdmissionPlugins" {
			ast.Inspect(d, func(n ast.Node) bool {
				if e, ok := n.(*ast.SelectorExpr); ok && e.Sel.Name == "PluginName" {
					on[s.text(p, all.file, e)] = true
				}
				return true
			})
		}
	}
	for _, e := range all.value.(*ast.CompositeLit).Elts {
		name := s.text(p, all.file, e)
		i.add("plugins", name, onOff[on[name]])
	}
	return nil
}
