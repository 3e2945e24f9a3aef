package client

import (
	"net/http"
	"slices"
	"strings"

	"github.com/troupe-api/troupe/cmd/troupe/internal/client/document"
	"github.com/troupe-api/troupe/cmd/troupe/internal/client/printer"
	"github.com/troupe-api/troupe/cmd/troupe/internal/client/rest"
	"github.com/troupe-api/troupe/kinds/tree"
)

// review creates an access review and returns it with the server's status.
func (s *session) review(group, resource string, spec tree.Tree) (tree.Tree, error) {
	r, err := s.own(group, resource)
	if err != nil {
		return nil, err
	}
	o := tree.Tree{"apiVersion": r.APIVersion(), "kind": r.Kind}
	if spec != nil {
		o["spec"] = spec
	}
	return s.tree(s.ctx, rest.Request{Method: http.MethodPost, Path: r.Path("", ""), Body: document.JSON(o)})
}

type canI struct {
	List, Quiet, AllNamespaces, NoHeaders bool
	Subresource                           string
}

func (o *canI) run(s *session, args []string) error {
	if o.List {
		return s.listRights(o.NoHeaders)
	}
	if len(args) < 2 || len(args) > 3 {
		return usageError("you must specify two arguments: verb resource or verb resource/resourceName, such as: troupe auth can-i get pods")
	}
	spec, err := s.attributes(args, o.Subresource, o.AllNamespaces)
	if err != nil {
		return err
	}
	t, err := s.review("authorization", "selfsubjectaccessreviews", spec)
	if err != nil {
		return err
	}
	status := t.Object("status")
	if !o.Quiet {
		s.printf("%s\n", verdict(status))
	}
	if !status.Bool("allowed") {
		return &Error{Code: 1}
	}
	return nil
}

func verdict(status tree.Tree) string {
	words := "no"
	if status.Bool("allowed") {
		words = "yes"
	} else {
		if reason := status.String("reason"); reason != "" {
			words += " - " + reason
		}
		if fault := status.String("evaluationError"); fault != "" {
			words += " - " + fault
		}
	}
	return words
}

// attributes returns the spec of an access review. An unknown resource type is not an error,
// because roles may contain types that are not served.
func (s *session) attributes(args []string, subresource string, everywhere bool) (tree.Tree, error) {
	verb, what := args[0], args[1]
	if strings.HasPrefix(what, "/") {
		if subresource != "" {
			return nil, usageError("--subresource can not be used with NonResourceURL")
		}
		return tree.Tree{"nonResourceAttributes": tree.Tree{"verb": verb, "path": what}}, nil
	}
	word, name, _ := strings.Cut(what, "/")
	if len(args) == 3 {
		name = args[2]
	}
	c, err := s.served()
	if err != nil {
		return nil, err
	}
	a := tree.Tree{"verb": verb, "resource": word, "subresource": subresource, "name": name}
	if !everywhere {
		a["namespace"] = s.Namespace
	}
	switch r, err := c.Find(word); {
	case word == "*":
		a["group"] = "*"
	case err != nil:
		var group string
		a["resource"], group, _ = strings.Cut(word, ".")
		a["group"] = group
		s.notef("Warning: the server doesn't have a resource type '%s'\n\n", word)
	default:
		a["resource"], a["group"] = r.Name, r.Group
		if !r.Namespaced {
			delete(a, "namespace")
			if !everywhere {
				s.notef("Warning: resource '%s' is not namespace scoped%s\n\n", r.Name, groupNote(r.Group))
			}
		}
	}
	return tree.Tree{"resourceAttributes": a}, nil
}

func groupNote(group string) string {
	if group == "" {
		return ""
	}
	return " in group '" + group + "'"
}

func (s *session) listRights(noHeaders bool) error {
	t, err := s.review("authorization", "selfsubjectrulesreviews", tree.Tree{"namespace": s.Namespace})
	if err != nil {
		return err
	}
	status := t.Object("status")
	if status.Bool("incomplete") {
		s.notef("warning: the list may be incomplete: %s\n", status.String("evaluationError"))
	}
	grid := &printer.Grid{}
	if !noHeaders {
		grid.Row("Resources", "Non-Resource URLs", "Resource Names", "Verbs")
	}
	var rows [][]string
	for _, rule := range status.Objects("resourceRules") {
		for _, group := range rule.Strings("apiGroups") {
			for _, resource := range rule.Strings("resources") {
				if group != "" {
					resource += "." + group
				}
				rows = append(rows, []string{resource, "[]", bracketed(rule.Strings("resourceNames")), bracketed(rule.Strings("verbs"))})
			}
		}
	}
	for _, rule := range status.Objects("nonResourceRules") {
		for _, path := range rule.Strings("nonResourceURLs") {
			rows = append(rows, []string{"", "[" + path + "]", "[]", bracketed(rule.Strings("verbs"))})
		}
	}
	rows = merged(rows)
	for _, row := range rows {
		grid.Row(row...)
	}
	return grid.Flush(s.out)
}

func merged(rows [][]string) (all [][]string) {
	for _, row := range rows {
		i := slices.IndexFunc(all, func(other []string) bool { return slices.Equal(other[:3], row[:3]) })
		if i < 0 {
			all = append(all, row)
			continue
		}
		verbs := strings.Fields(strings.Trim(all[i][3], "[]"))
		for _, v := range strings.Fields(strings.Trim(row[3], "[]")) {
			if !slices.Contains(verbs, v) {
				verbs = append(verbs, v)
			}
		}
		all[i][3] = bracketed(verbs)
	}
	return all
}

func bracketed(texts []string) string { return "[" + strings.Join(texts, " ") + "]" }

type whoami struct{ printer.Options }

func (o *whoami) run(s *session, _ []string) error {
	t, err := s.review("authentication", "selfsubjectreviews", nil)
	if err != nil {
		return err
	}
	if o.Output != "" {
		return s.print(o.Options, t)
	}
	user := t.Object("status", "userInfo")
	grid := &printer.Grid{}
	grid.Row("ATTRIBUTE", "VALUE")
	grid.Row("Username", user.String("username"))
	if uid := user.String("uid"); uid != "" {
		grid.Row("UID", uid)
	}
	if groups := user.Strings("groups"); len(groups) > 0 {
		grid.Row("Groups", bracketed(groups))
	}
	extra := user.Object("extra")
	for _, name := range extra.SortedKeys() {
		grid.Row("Extra: "+name, bracketed(extra.Strings(name)))
	}
	return grid.Flush(s.out)
}
