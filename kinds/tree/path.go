package tree

import "strconv"

// IndexPath returns the path of a list element.
func IndexPath(path string, i int) string { return path + "[" + strconv.Itoa(i) + "]" }

// KeyPath returns the path of a map entry.
func KeyPath(path, key string) string { return path + "[" + key + "]" }

// FieldPath returns the path of a field below path, which may be "".
func FieldPath(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}
