package represent

import "github.com/troupe-api/troupe/kinds/meta"

// One call of convert takes so many objects, and so many bytes of JSON unless one alone is larger. One
// object at a time would cost a call, and maybe one to a webhook, for each; all at once would hold the list
// in memory twice.
const (
	maxConvertObjects = 64
	maxConvertBytes   = 64 << 10
)

// eachConverted converts a few objects after the others to the version that was asked for. An object is
// valid until the next batch is converted.
func (l *List) eachConverted(do func(i int, o *meta.Object) error) error {
	for start := 0; start < len(l.items); {
		batch := l.items[start:l.convertEnd(start)]
		converted, err := batch, error(nil)
		if l.convert != nil {
			converted, err = l.convert(l.ctx, l.kind, batch)
		}
		if err != nil {
			return err
		}
		for i, o := range converted {
			if err := do(start+i, o); err != nil {
				return err
			}
		}
		start += len(batch)
	}
	return nil
}

// convertEnd is the end of the batch that begins at start.
func (l *List) convertEnd(start int) int {
	// At least one object, however large, or the list would never end.
	end, bytes := start+1, len(l.items[start].JSON)
	for end < len(l.items) && end-start < maxConvertObjects {
		if bytes += len(l.items[end].JSON); bytes > maxConvertBytes {
			break
		}
		end++
	}
	return end
}
