// Package jsonpath follows paths through JSON values: the part of JSONPath that columns of custom kinds and users of clients
// write. A path works on the text of a value, as the server writes it, and decodes nothing.
package jsonpath
