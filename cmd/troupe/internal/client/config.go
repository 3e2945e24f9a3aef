package client

func entryNames(view map[string]any, list string) (names []string) {
	entries, _ := view[list].([]any)
	for _, e := range entries {
		entry, _ := e.(map[string]any)
		if name, ok := entry["name"].(string); ok {
			names = append(names, name)
		}
	}
	return names
}
