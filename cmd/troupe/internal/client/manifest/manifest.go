package manifest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/troupe-api/troupe/cmd/troupe/internal/client/document"
	"github.com/troupe-api/troupe/kinds/tree"
)

// A Manifest is an object and its source.
type Manifest struct {
	Object tree.Tree
	Source string // a path, a URL or STDIN

	document *document.Document
	path     string // of the object in document, if that is a list
}

// Locate returns the location of a field of the object, or of the object if path is empty.
func (m Manifest) Locate(path string) document.Location { return m.document.Locate(m.path, path) }

// A DocumentError reports a document that is not an object with apiVersion and kind.
type DocumentError struct {
	Source string
	Line   int    // at which the object begins
	Field  string // the missing field of an object, or ""
	Reason string // the error of the parser, unless a field is missing
	text   string
}

func (e *DocumentError) Error() string { return e.text }

// Options select the sources to read.
type Options struct {
	Filename  []string // paths, directories, URLs, glob patterns, or - for standard input
	Kustomize string   // a directory with a kustomization
	Recursive bool     // include subdirectories
	Stdin     io.Reader
}

// IsSet reports whether any source is given.
func (o Options) IsSet() bool { return len(o.Filename) > 0 || o.Kustomize != "" }

// UsesStdin reports whether standard input is read.
func (o Options) UsesStdin() bool { return slices.Contains(o.Filename, "-") }

// maxSize is the maximum size of a source in bytes.
const maxSize = 256 << 20

// Read returns the objects of all sources, with lists flattened. After errors, it continues, and
// returns the readable objects with the joined errors.
func Read(ctx context.Context, o Options) (all []Manifest, err error) {
	if o.Kustomize != "" {
		if len(o.Filename) > 0 {
			return nil, errors.New("only one of -f and -k can be specified")
		}
		text, err := kustomize(ctx, o.Kustomize)
		if err != nil {
			return nil, err
		}
		return parse(text, o.Kustomize)
	}
	return join(o.Filename, func(_ int, file string) ([]Manifest, error) { return o.read(ctx, file) })
}

// Unjoin splits an error made by errors.Join, recursively.
func Unjoin(err error) (all []error) {
	many, ok := err.(interface{ Unwrap() []error })
	switch {
	case err == nil:
		return nil
	case !ok:
		return []error{err}
	}
	for _, one := range many.Unwrap() {
		all = append(all, Unjoin(one)...)
	}
	return all
}

func join[T any](items []T, read func(i int, item T) ([]Manifest, error)) (all []Manifest, err error) {
	var errs []error
	for i, item := range items {
		found, err := read(i, item)
		all, errs = append(all, found...), append(errs, err)
	}
	return all, errors.Join(errs...)
}

func (o Options) read(ctx context.Context, file string) ([]Manifest, error) {
	switch {
	case file == "-":
		text, err := io.ReadAll(io.LimitReader(o.Stdin, maxSize))
		if err != nil {
			return nil, err
		}
		found, err := parse(text, "STDIN")
		if err == nil && len(found) == 0 {
			err = errors.New("no objects passed to the command: stdin is empty")
		}
		return found, err
	case strings.HasPrefix(file, "http://") || strings.HasPrefix(file, "https://"):
		text, err := download(ctx, file)
		if err != nil {
			return nil, err
		}
		return parse(text, file)
	}
	paths, err := o.paths(file)
	if err != nil {
		return nil, err
	}
	return join(paths, func(_ int, path string) ([]Manifest, error) {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		return parse(text, path)
	})
}

// paths expands file, which may be a directory or a glob pattern.
func (o Options) paths(file string) ([]string, error) {
	info, err := os.Stat(file)
	switch {
	case errors.Is(err, fs.ErrNotExist) && strings.ContainsAny(file, "*?["):
		found, err := filepath.Glob(file)
		if err != nil || len(found) == 0 {
			return nil, fmt.Errorf("no file matches the path %q", file)
		}
		return found, nil
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("the path %q does not exist", file)
	case err != nil:
		return nil, err
	case !info.IsDir():
		return []string{file}, nil
	}
	var all []string
	err = filepath.WalkDir(file, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != file && !o.Recursive:
			return fs.SkipDir
		case !d.IsDir() && slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(path)):
			all = append(all, path)
		}
		return nil
	})
	if err == nil && len(all) == 0 {
		err = fmt.Errorf("the directory %q has no .yaml, .yml or .json files", file)
		if !o.Recursive {
			err = fmt.Errorf("%w (-R searches subdirectories)", err)
		}
	}
	return all, err
}

func download(ctx context.Context, where string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, where, nil)
	if err != nil {
		return nil, err
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("unable to read URL %q, server reported %s, status code=%d", where, answer.Status, answer.StatusCode)
	}
	return io.ReadAll(io.LimitReader(answer.Body, maxSize))
}

// kustomize builds a kustomization with kustomize or, if that is missing, kubectl.
func kustomize(ctx context.Context, folder string) ([]byte, error) {
	for _, command := range [][]string{{"kustomize", "build", folder}, {"kubectl", "kustomize", folder}} {
		run := exec.CommandContext(ctx, command[0], command[1:]...)
		run.Stderr = os.Stderr
		text, err := run.Output()
		if errors.Is(err, exec.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", strings.Join(command, " "), err)
		}
		return text, nil
	}
	return nil, errors.New("-k needs kustomize or kubectl in PATH: install it from https://kubectl.docs.kubernetes.io/installation/kustomize, or build the kustomization elsewhere and use -f")
}

func parse(text []byte, source string) ([]Manifest, error) {
	documents, err := document.Split(text)
	if err != nil {
		return nil, fmt.Errorf("error parsing %s: %w", source, err)
	}
	return join(documents, func(i int, d *document.Document) ([]Manifest, error) {
		t, err := document.ParseYAML(d.Text)
		if err != nil {
			return nil, &DocumentError{source, d.Line, "", err.Error(), fmt.Sprintf("error parsing %s: document %d: %v", source, i+1, err)}
		}
		return flatten(Manifest{t, source, d, ""})
	})
}

func flatten(m Manifest) ([]Manifest, error) {
	t := m.Object
	kind := t.String("kind")
	if itemKind, isList := strings.CutSuffix(kind, "List"); isList && t.Has("items") {
		return join(t.Objects("items"), func(i int, one tree.Tree) ([]Manifest, error) {
			if itemKind != "" && one != nil && !one.Has("kind") {
				one["kind"], one["apiVersion"] = itemKind, t.String("apiVersion")
			}
			return flatten(Manifest{one, m.Source, m.document, tree.IndexPath(tree.FieldPath(m.path, "items"), i)})
		})
	}
	for _, field := range []string{"apiVersion", "kind"} {
		if t.String(field) == "" {
			text := fmt.Sprintf("error validating %q: %s not set; every object needs apiVersion and kind", m.Source, field)
			return nil, &DocumentError{m.Source, m.Locate("").Line, field, "", text}
		}
	}
	if _, isText := t.Object("metadata")["name"].(string); !isText && t.Object("metadata")["name"] != nil {
		const reason = "metadata.name must be a string"
		return nil, &DocumentError{m.Source, m.Locate("metadata.name").Line, "", reason, fmt.Sprintf("error validating %q: %s", m.Source, reason)}
	}
	return []Manifest{m}, nil
}
