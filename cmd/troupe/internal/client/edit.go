package client

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/troupe-api/troupe/cmd/troupe/internal/client/document"
	"github.com/troupe-api/troupe/cmd/troupe/internal/client/rest"
	"github.com/troupe-api/troupe/kinds/tree"
)

type editOptions struct {
	targetFlags
	Output, Subresource, Validate string
}

func (*editOptions) stdinUse() string { return "the editor" }

func (o *editOptions) run(s *session, args []string) error {
	if o.Output != "yaml" && o.Output != "json" {
		return usageError("--output must be yaml or json")
	}
	selections, _, err := s.selections(&o.targetFlags, args)
	if err != nil {
		return err
	}
	objects, err := s.find(&o.targetFlags, selections)
	if err != nil {
		return err
	}
	changed := false
	for _, one := range objects {
		did, err := s.editOne(o, one)
		if err != nil {
			return err
		}
		changed = changed || did
	}
	if !changed {
		s.printf("Edit cancelled, no changes made.\n")
	}
	return nil
}

type editing struct {
	*editOptions
	object object
	path   string
	base   tree.Tree // the object that text was made from
	text   []byte
	reason string // why the editor opens again
}

// editOne reopens the editor until the server accepts the object or the user cancels.
func (s *session) editOne(o *editOptions, one object) (changed bool, err error) {
	e := &editing{editOptions: o, object: one, path: one.path()}
	if o.Subresource != "" {
		e.path += "/" + url.PathEscape(o.Subresource)
		if e.object.tree, err = s.Get(s.ctx, e.path, nil); err != nil {
			return false, err
		}
	}
	e.base = editable(e.object.tree)
	e.text = o.text(e.base)
	for {
		edited, err := s.openEditor(o, e.text, e.reason)
		if err != nil {
			return false, err
		}
		trimmed := withoutComments(edited)
		same := bytes.Equal(trimmed, withoutComments(e.text))
		switch {
		case len(bytes.TrimSpace(trimmed)) == 0, same && e.reason == "":
			return false, nil
		case same:
			return false, s.keepEdited(edited, o.Output, e.reason)
		}
		t, err := document.ParseYAML(trimmed)
		if err == nil && tree.StrictEqual(t, e.base) {
			return false, nil
		}
		if err == nil {
			err = s.storeEdited(e, t)
		}
		if err == nil {
			return true, nil
		}
		e.text, e.reason = edited, describe(err, "")
		if !isTerminal(os.Stdin) { // no user to correct it
			return false, s.keepEdited(edited, o.Output, e.reason)
		}
	}
}

// storeEdited stores the edited object. After a concurrent change, it rebases the edit, unless both
// change the same field.
func (s *session) storeEdited(e *editing, t tree.Tree) error {
	if err := checkIdentity(t, e.object.tree); err != nil {
		return err
	}
	for {
		// Use the resource version that the user has seen, even if the edited text contains
		// another.
		t.EnsureObject("metadata")["resourceVersion"] = e.base.Object("metadata").String("resourceVersion")
		err := s.sendEdited(e.editOptions, e.object, e.path, t)
		if !rest.IsConflict(err) {
			return err
		}
		now, err := s.Get(s.ctx, e.path, nil)
		if err != nil {
			return err
		}
		if now.Object("metadata").String("uid") != e.object.tree.Object("metadata").String("uid") {
			return errors.New("the object was deleted and recreated while it was edited; edit it again")
		}
		now = editable(now)
		merged, clashes := rebase(e.base, t, now)
		if len(clashes) > 0 {
			return fmt.Errorf("the object was changed while it was edited, including %s; edit it again", strings.Join(clashes, " and "))
		}
		e.base, t = now, merged
	}
}

// rebase applies the difference between base and edited to now, the current object. clashes lists
// the fields that edited and now change to different values.
func rebase(base, edited, now tree.Tree) (merged tree.Tree, clashes []string) {
	merged = maps.Clone(now)
	if merged == nil {
		merged = tree.Tree{}
	}
	fields := maps.Clone(edited)
	for field := range base {
		if _, there := fields[field]; !there {
			fields[field] = nil // only the name matters
		}
	}
	for _, field := range slices.Sorted(maps.Keys(fields)) {
		mine, iHave := edited[field]
		theirs, theyHave := now[field]
		was, had := base[field]
		switch {
		case iHave == had && tree.StrictEqual(mine, was): // not edited
			continue
		case iHave == theyHave && tree.StrictEqual(mine, theirs): // both made the same change
			continue
		}
		before, isTree := was.(tree.Tree)
		inner, stays := mine.(tree.Tree)
		other, remains := theirs.(tree.Tree)
		switch {
		case isTree && stays && remains:
			below, more := rebase(before, inner, other)
			merged[field] = below
			for _, clash := range more {
				clashes = append(clashes, field+"."+clash)
			}
		case theyHave != had || !tree.StrictEqual(theirs, was):
			clashes = append(clashes, field)
		case iHave:
			merged[field] = mine
		default:
			delete(merged, field)
		}
	}
	return merged, clashes
}

func (s *session) keepEdited(text []byte, format, reason string) error {
	f, err := os.CreateTemp("", "troupe-edit-*."+format)
	if err != nil {
		return err
	}
	if _, err := f.Write(withoutComments(text)); err != nil {
		return errors.Join(err, f.Close())
	}
	return &Error{Text: fmt.Sprintf("%s\nA copy of your changes has been stored to %q", reason, f.Name())}
}

func checkIdentity(t, original tree.Tree) error {
	for _, field := range []string{"apiVersion", "kind"} {
		if t.String(field) != original.String(field) {
			return fmt.Errorf("%s cannot be changed in an editor: it was %s", field, original.String(field))
		}
	}
	for _, field := range []string{"name", "namespace"} {
		if t.Object("metadata").String(field) != original.Object("metadata").String(field) {
			return fmt.Errorf("metadata.%s cannot be changed in an editor: it was %s", field, original.Object("metadata").String(field))
		}
	}
	return nil
}

func editable(t tree.Tree) tree.Tree {
	copied := tree.Clone(t).(tree.Tree)
	delete(copied.Object("metadata"), "managedFields")
	return copied
}

func (o *editOptions) text(t tree.Tree) []byte {
	if o.Output == "json" {
		return document.IndentedJSON(t)
	}
	return document.YAML(t)
}

// sendEdited updates the object. If the resource version has changed, it returns a conflict error.
func (s *session) sendEdited(o *editOptions, one object, path string, t tree.Tree) error {
	validation, err := fieldValidation(o.Validate)
	if err != nil {
		return err
	}
	q := url.Values{"fieldManager": {fieldManager + "-edit"}, "fieldValidation": {validation}}
	stored, err := s.tree(s.ctx, rest.Request{Method: http.MethodPut, Path: path, Query: q, Body: document.JSON(t)})
	if err != nil {
		return err
	}
	s.printf("%s edited\n", object{resource: one.resource, tree: stored})
	return nil
}

func (s *session) openEditor(o *editOptions, text []byte, reason string) ([]byte, error) {
	f, err := os.CreateTemp("", "troupe-edit-*."+o.Output)
	if err != nil {
		return nil, err
	}
	defer os.Remove(f.Name())
	if o.Output == "yaml" {
		head := "# Please edit the object below. Lines beginning with # are ignored, and an empty file cancels.\n#\n"
		for line := range strings.Lines(reason) {
			head += "# " + strings.TrimRight(line, "\n") + "\n"
		}
		text = append([]byte(head), withoutComments(text)...)
	}
	_, writeErr := f.Write(text)
	if err := errors.Join(writeErr, f.Close()); err != nil {
		return nil, err
	}
	editor := cmp.Or(os.Getenv("TROUPE_EDITOR"), os.Getenv("KUBE_EDITOR"), os.Getenv("EDITOR"), "vi")
	command := exec.CommandContext(s.ctx, "/bin/sh", "-c", editor+` "$@"`, "sh", f.Name())
	command.Stdin, command.Stdout, command.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := command.Run(); err != nil {
		return nil, fmt.Errorf("there was a problem with the editor %q: %w", editor, err)
	}
	return os.ReadFile(f.Name())
}

func withoutComments(text []byte) []byte {
	var b bytes.Buffer
	for line := range bytes.Lines(text) {
		if !bytes.HasPrefix(line, []byte("#")) {
			b.Write(line)
		}
	}
	return b.Bytes()
}
