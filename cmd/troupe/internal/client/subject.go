package client

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/troupe-api/troupe/kinds/tree"
)

func setSubject(f *connectionFlags) *cobra.Command {
	o, b := &targetFlags{}, &subjectFlags{}
	var dry dryRun
	c := &cobra.Command{Use: "subject TYPE NAME | TYPE/NAME", Short: "Add users, groups and service accounts to bindings", ValidArgsFunction: f.completeObjects("patch")}
	o.addFiles(c)
	addDryRun(c, &dry)
	b.add(c.Flags())
	c.RunE = f.runWith(o.stdinUse, func(s *session, args []string) error {
		if len(b.users)+len(b.groups)+len(b.accounts) == 0 {
			return usageError("you must specify at least one value of user, group or serviceaccount")
		}
		selections, _, err := s.selections(o, args)
		if err != nil {
			return err
		}
		objects, err := s.find(o, selections)
		faults := unjoin(err)
		for _, one := range objects {
			if !one.tree.Has("roleRef") {
				faults = append(faults, fmt.Errorf("%s gives no role to anybody", one))
				continue
			}
			made, err := b.binding(&generated{session: s, catalog: s.catalog}, "", "")
			if err != nil {
				return err
			}
			subjects := slices.Clone(one.tree.List("subjects"))
			for _, added := range made.Objects("subjects") {
				if !slices.ContainsFunc(one.tree.Objects("subjects"), func(have tree.Tree) bool { return covers(have, added, "subjects") }) {
					subjects = append(subjects, added)
				}
			}
			patch := tree.Tree{"metadata": tree.Tree{"resourceVersion": one.tree.Object("metadata").String("resourceVersion")}, "subjects": subjects}
			if _, err := s.mergePatch(one, patch, dry); err != nil {
				faults = append(faults, err)
				continue
			}
			s.printf("%s subjects updated%s\n", one, dry.suffix())
		}
		return errors.Join(faults...)
	})
	return c
}
