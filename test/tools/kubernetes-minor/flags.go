package main

import (
	"fmt"
	"go/ast"
	"regexp"
	"strings"
)

// optionPackages lists the packages that declare the flags of kube-apiserver.
var optionPackages = []string{
	kubernetes + "/cmd/kube-apiserver/app/options", kubernetes + "/pkg/controlplane/apiserver/options", kubernetes + "/pkg/kubeapiserver/options",
	kubernetes + "/plugin/pkg/admission/defaulttolerationseconds", "k8s.io/apiserver/pkg/server/options", "k8s.io/component-base/compatibility",
	"k8s.io/component-base/logs/api/v1", "k8s.io/component-base/metrics",
}

var (
	definesFlag   = regexp.MustCompile(`VarP?$`)
	otherOptions  = regexp.MustCompile(`^(Delegating|CoreAPI)`) // options of extension servers
	auditBackends = []string{"log", "webhook"}                  // values of %s in flag names
)

// readFlags adds the flags of kube-apiserver, found in the calls that define them.
func (i inventory) readFlags(s *source) error {
	for _, importPath := range optionPackages {
		p, err := s.load(importPath)
		if err != nil {
			return err
		}
		if len(p.files) == 0 {
			return fmt.Errorf("flags: no Go files in %s", importPath)
		}
		for _, f := range p.files {
			for _, d := range f.Decls {
				if d, ok := d.(*ast.FuncDecl); ok && !otherOptions.MatchString(receiver(d)) {
					ast.Inspect(d, func(n ast.Node) bool {
						for _, name := range s.flagNames(p, f, n) {
							i.add("flags", name, "")
						}
						return true
					})
				}
			}
		}
	}
	return nil
}

// flagNames returns the names of the flags that a call such as fs.StringVar(&v, "name", …) defines.
func (s *source) flagNames(p *goPackage, f *ast.File, n ast.Node) (names []string) {
	call, ok := n.(*ast.CallExpr)
	if !ok || len(call.Args) < 3 {
		return nil
	}
	method, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || !definesFlag.MatchString(method.Sel.Name) {
		return nil
	}
	if format, ok := call.Args[1].(*ast.CallExpr); ok { // fmt.Sprintf
		for _, backend := range auditBackends {
			names = append(names, strings.ReplaceAll(s.text(p, f, format.Args[0]), "%s", backend))
		}
		return names
	}
	if name := s.text(p, f, call.Args[1]); name != "" {
		names = append(names, name)
	}
	return names
}

func receiver(d *ast.FuncDecl) string {
	if d.Recv == nil {
		return ""
	}
	t := d.Recv.List[0].Type
	if star, ok := t.(*ast.StarExpr); ok {
		t = star.X
	}
	name, _ := t.(*ast.Ident)
	return name.Name
}
