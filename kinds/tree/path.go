package tree

import "strconv"

// IndexPath is the path of an element of a list.
func IndexPath(path string, i int) string { return path + "[" + strconv.Itoa(i) + "]" }

// KeyPath is the path of an entry of a map.
func KeyPath(path, key string) string { return path + "[" + key + "]" }

// FieldPath is the path of a field below path, which may be "".
func FieldPath(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}
