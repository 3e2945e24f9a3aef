package client

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/troupe-api/troupe/cmd/troupe/internal/client/document"
	"github.com/troupe-api/troupe/cmd/troupe/internal/client/manifest"
	"github.com/troupe-api/troupe/cmd/troupe/internal/client/printer"
	"github.com/troupe-api/troupe/cmd/troupe/internal/client/rest"
	"github.com/troupe-api/troupe/kinds/tree"
)

type reconcileOptions struct {
	targetFlags
	print                     printer.Options
	dryRun                    dryRun
	extraRules, extraSubjects bool
}

func reconcile(f *connectionFlags) *cobra.Command {
	o := &reconcileOptions{}
	c := &cobra.Command{
		Use:   "reconcile -f FILE…",
		Short: "Bring roles and bindings to at least what files say",
		Long: `Bring roles and bindings to at least what files say: what they lack is added, and nothing is
taken away unless --remove-extra-permissions or --remove-extra-subjects says so. Objects of
other kinds in the files are passed over.`,
		Args: cobra.NoArgs,
	}
	o.addFiles(c)
	addDryRun(c, &o.dryRun)
	addOutput(c, &o.print)
	c.Flags().BoolVar(&o.extraRules, "remove-extra-permissions", false, "Take away rules that the files do not have.")
	c.Flags().BoolVar(&o.extraSubjects, "remove-extra-subjects", false, "Take away subjects that the files do not have.")
	c.RunE = f.runWith(o.stdinUse, func(s *session, _ []string) error {
		return s.eachManifest(&o.targetFlags, func(one selection) error { return s.reconcileOne(o, one) })
	})
	return c
}

// field is what is reconciled of a kind: rules or subjects; "" of other kinds.
func (s *session) reconciledField(one selection) string {
	if one.resource.Group != s.catalog.Naming.Group("rbac.authorization") {
		return ""
	}
	switch one.resource.Name {
	case "roles", "clusterroles":
		return "rules"
	case "rolebindings", "clusterrolebindings":
		return "subjects"
	}
	return ""
}

func (s *session) reconcileOne(o *reconcileOptions, one selection) error {
	m := one.manifest
	field := s.reconciledField(one)
	if field == "" {
		return nil
	}
	if len(one.names) == 0 {
		return one.unnamed()
	}
	path := one.resource.Path(one.namespace, one.names[0])
	answer, err := s.Do(s.ctx, rest.Request{Method: http.MethodGet, Path: path})
	if rest.IsNotFound(err) {
		return s.reconcileNew(o, one, m, field)
	}
	if err != nil {
		return err
	}
	now, err := answer.Tree()
	if err != nil {
		return err
	}
	if field == "subjects" && !tree.SemanticEqual(now.Object("roleRef"), m.Object.Object("roleRef")) {
		return fmt.Errorf("%s gives another role, and that cannot be changed: delete it first", one)
	}
	missing := lacking(now, m.Object, field)
	var extra []tree.Tree
	if field == "rules" && o.extraRules || field == "subjects" && o.extraSubjects {
		extra = lacking(m.Object, now, field)
	}
	s.printf("%s reconciled%s\n", one, o.dryRun.suffix())
	if len(missing)+len(extra) == 0 {
		return nil
	}
	s.printf("\treconciliation required update\n")
	s.tellReconciled("missing", "added", field, missing)
	s.tellReconciled("extra", "removed", field, extra)
	changed := tree.Clone(now).(tree.Tree)
	if len(extra) > 0 {
		changed[field] = m.Object.List(field)
	} else {
		for _, item := range missing {
			changed[field] = append(changed.List(field), item)
		}
	}
	return s.storeReconciled(o, http.MethodPut, path, changed)
}

func (s *session) reconcileNew(o *reconcileOptions, one selection, m *manifest.Manifest, field string) error {
	if err := s.storeReconciled(o, http.MethodPost, one.resource.Path(one.namespace, ""), m.Object); err != nil {
		return err
	}
	s.printf("%s reconciled%s\n\treconciliation required create\n", one, o.dryRun.suffix())
	s.tellReconciled("missing", "added", field, lacking(nil, m.Object, field))
	return nil
}

func (s *session) storeReconciled(o *reconcileOptions, method, path string, t tree.Tree) error {
	if o.dryRun == dryRunClient {
		return nil
	}
	q := url.Values{"fieldManager": {fieldManager}}
	if o.dryRun == dryRunServer {
		q.Set("dryRun", "All")
	}
	_, err := s.Do(s.ctx, rest.Request{Method: method, Path: path, Query: q, Body: document.JSON(t)})
	return err
}

// lacking are the rules or subjects of wanted that have does not have; rules one by one, for a verb and a type each.
func lacking(have, wanted tree.Tree, field string) (all []tree.Tree) {
	split := atoms
	if field == "subjects" {
		split = func(t tree.Tree) []tree.Tree { return []tree.Tree{t} }
	}
	var known []tree.Tree
	for _, item := range have.Objects(field) {
		known = append(known, split(item)...)
	}
	for _, item := range wanted.Objects(field) {
		for _, one := range split(item) {
			if !slices.ContainsFunc(known, func(k tree.Tree) bool { return covers(k, one, field) }) {
				all, known = append(all, one), append(known, one)
			}
		}
	}
	return all
}

// covers tells whether a rule lets do what another one lets do; subjects are equal or not.
func covers(have, wanted tree.Tree, field string) bool {
	if field == "subjects" {
		for _, name := range []string{"kind", "name", "namespace"} {
			if have.String(name) != wanted.String(name) {
				return false
			}
		}
		return true
	}
	for _, name := range []string{"verbs", "apiGroups", "resources", "nonResourceURLs"} {
		h, w := have.Strings(name), wanted.Strings(name)
		if !slices.Equal(h, w) && !slices.Equal(h, []string{"*"}) {
			return false
		}
	}
	h, w := have.Strings("resourceNames"), wanted.Strings("resourceNames")
	return len(h) == 0 || slices.Equal(h, w)
}

// atoms are a rule taken apart: one verb on one type or path.
func atoms(rule tree.Tree) (all []tree.Tree) {
	names := rule.Strings("resourceNames")
	if len(names) == 0 {
		names = []string{""}
	}
	for _, group := range rule.Strings("apiGroups") {
		for _, resource := range rule.Strings("resources") {
			for _, verb := range rule.Strings("verbs") {
				for _, name := range names {
					one := tree.Tree{"apiGroups": []any{group}, "resources": []any{resource}, "verbs": []any{verb}}
					if name != "" {
						one["resourceNames"] = []any{name}
					}
					all = append(all, one)
				}
			}
		}
	}
	for _, path := range rule.Strings("nonResourceURLs") {
		for _, verb := range rule.Strings("verbs") {
			all = append(all, tree.Tree{"nonResourceURLs": []any{path}, "verbs": []any{verb}})
		}
	}
	return all
}

func (s *session) tellReconciled(what, did, field string, all []tree.Tree) {
	if len(all) == 0 {
		return
	}
	s.printf("\t%s %s %s:\n", what, field, did)
	for _, t := range all {
		if field == "subjects" {
			s.printf("\t\t{Kind:%s APIGroup:%s Name:%s Namespace:%s}\n", t.String("kind"), t.String("apiGroup"), t.String("name"), t.String("namespace"))
			continue
		}
		list := func(name string) string { return "[" + strings.Join(t.Strings(name), " ") + "]" }
		s.printf("\t\t{Verbs:%s APIGroups:%s Resources:%s ResourceNames:%s NonResourceURLs:%s}\n",
			list("verbs"), list("apiGroups"), list("resources"), list("resourceNames"), list("nonResourceURLs"))
	}
}
