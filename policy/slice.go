package policy

// ToAnySlice are texts as the list of a tree; rules.Texts reads them back.
func ToAnySlice(texts []string) []any {
	items := make([]any, len(texts))
	for i, s := range texts {
		items[i] = s
	}
	return items
}
