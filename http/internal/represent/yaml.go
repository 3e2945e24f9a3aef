package represent

import (
	"bytes"
	"fmt"
	"io"

	"github.com/troupe-api/troupe/kinds/codec"
)

// yaml writes the list as YAML. Each item is converted as a list of one item, so that its
// indentation and line breaks match those in the whole list. The surrounding text is that of an
// empty list.
func (l *List) yaml(w io.Writer) error {
	frame, err := codec.YAML(append(bytes.Clone(l.head), listEnd...))
	if err != nil {
		return err
	}
	empty := []byte("\n" + l.field + ": []\n")
	before, after, ok := bytes.Cut(frame, empty)
	if !ok {
		return fmt.Errorf("the YAML of a list contains no %s", l.field)
	}
	if len(l.items) == 0 {
		_, err := w.Write(frame)
		return err
	}
	if _, err := w.Write(append(before[:len(before):len(before)], "\n"+l.field+":\n"...)); err != nil {
		return err
	}
	const opening = "items:\n"
	wrapped := []byte(`{"items":[`)
	if err := l.each(func(item []byte) error {
		wrapped = append(append(wrapped[:len(`{"items":[`)], item...), listEnd...)
		text, err := codec.YAML(wrapped)
		if err != nil {
			return err
		}
		_, err = w.Write(bytes.TrimPrefix(text, []byte(opening)))
		return err
	}); err != nil {
		return err
	}
	_, err = w.Write(after)
	return err
}
