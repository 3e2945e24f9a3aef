package main

import "go/ast"

// measured lists the packages that, including their subpackages, declare kube-apiserver's metrics.
var measured = []string{
	"k8s.io/apiextensions-apiserver/pkg", "k8s.io/apiserver/pkg", "k8s.io/apiserver/plugin", "k8s.io/component-base", "k8s.io/kube-aggregator/pkg",
	"k8s.io/pod-security-admission", kubernetes + "/pkg/controlplane", kubernetes + "/pkg/registry", kubernetes + "/plugin",
}

// readMetrics adds all metrics that are STABLE or BETA.
func (i inventory) readMetrics(s *source) error {
	for _, importPath := range measured {
		packages, err := s.loadBelow(importPath)
		if err != nil {
			return err
		}
		for _, p := range packages {
			for _, f := range p.files {
				ast.Inspect(f, func(n ast.Node) bool {
					if name := s.metricName(p, f, n); name != "" {
						i.add("metrics", name, "")
					}
					return true
				})
			}
		}
	}
	return nil
}

// metricName returns the name of the metric declared by an options literal or a call of NewDesc, or
// "" if it is neither STABLE nor BETA.
func (s *source) metricName(p *goPackage, f *ast.File, n ast.Node) string {
	parts := map[string]string{}
	var stability ast.Expr
	switch n := n.(type) {
	case *ast.CompositeLit:
		for _, e := range n.Elts {
			if pair, ok := e.(*ast.KeyValueExpr); ok {
				key, _ := pair.Key.(*ast.Ident)
				if key == nil {
					return ""
				}
				if key.Name == "StabilityLevel" {
					stability = pair.Value
				} else {
					parts[key.Name] = s.text(p, f, pair.Value)
				}
			}
		}
	case *ast.CallExpr:
		method, ok := n.Fun.(*ast.SelectorExpr)
		if !ok || method.Sel.Name != "NewDesc" || len(n.Args) < 5 {
			return ""
		}
		stability, parts["Name"] = n.Args[4], s.text(p, f, n.Args[0])
		if built, ok := n.Args[0].(*ast.CallExpr); ok && len(built.Args) == 3 { // BuildFQName
			for at, key := range []string{"Namespace", "Subsystem", "Name"} {
				parts[key] = s.text(p, f, built.Args[at])
			}
		}
	}
	level, ok := stability.(*ast.SelectorExpr)
	if !ok || level.Sel.Name != "STABLE" && level.Sel.Name != "BETA" || parts["Name"] == "" {
		return ""
	}
	name := ""
	for _, key := range []string{"Namespace", "Subsystem", "Name"} {
		if parts[key] != "" {
			name += "_" + parts[key]
		}
	}
	return name[1:]
}
