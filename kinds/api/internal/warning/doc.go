// Package warning finds causes for warnings in valid objects of several kinds: addresses in unusual
// forms (Addresses), deprecated node labels (NodeLabels), fractional bytes (FractionalBytes), and
// names that are not host names (AppendHostName).
//
// Texts are those of kube-apiserver. Objects without warnings cause no allocation: most functions
// return only what follows the path of the field, and callers build the path for actual warnings.
package warning
