package merge

import "github.com/troupe-api/troupe/kinds/schema"

// Merge applies an RFC 7386 merge patch. A patch that is no object replaces current
// as a whole; a null in an object removes the field. Neither argument is changed.
func Merge(current, patch any) any {
	p, ok := patch.(map[string]any)
	if !ok {
		return patch
	}
	c, ok := current.(map[string]any)
	if !ok {
		return withoutNulls(p)
	}
	var out map[string]any // nil until the first change
	for name, v := range p {
		old, had := c[name]
		if v == nil {
			if !had {
				continue
			}
			out = cloneOnce(out, c)
			delete(out, name)
			continue
		}
		next := Merge(old, v)
		if had && schema.SameRef(old, next) {
			continue
		}
		out = cloneOnce(out, c)
		out[name] = next
	}
	if out == nil {
		return c
	}
	return out
}

// withoutNulls is a patch object taken as it is: its nulls only say that nothing is there.
func withoutNulls(p map[string]any) map[string]any {
	out := make(map[string]any, len(p))
	for name, v := range p {
		if v != nil {
			out[name] = Merge(nil, v)
		}
	}
	return out
}

// cloneOnce is own, or a fresh copy of shared if there is none yet.
func cloneOnce(own, shared map[string]any) map[string]any {
	if own != nil {
		return own
	}
	own = make(map[string]any, len(shared)+1)
	for k, v := range shared {
		own[k] = v
	}
	return own
}
