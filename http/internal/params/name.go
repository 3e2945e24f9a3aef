package params

import (
	"github.com/troupe-api/troupe/http/internal/apierrors"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/selector"
)

// SelectName returns the field selector of a watch whose path names an object. kubectl sends both a
// name and a selector, which must agree.
func (o *List) SelectName(k *schema.Kind, name string) (selector.Fields, error) {
	if o.Fields.Empty() {
		return selector.ParseFields(k, "metadata.name="+escapeSelector(name))
	}
	if selected, ok := o.Fields.Name(); !ok || selected != name {
		return o.Fields, apierrors.BadRequest("fieldSelector metadata.name doesn't match requested name")
	}
	return o.Fields, nil
}

// escapeSelector escapes the special characters of field selectors. Some object names, such as Role
// names, contain them.
func escapeSelector(s string) string {
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if c := s[i]; c == '\\' || c == ',' || c == '=' {
			out = append(out, '\\')
		}
		out = append(out, s[i])
	}
	return string(out)
}
