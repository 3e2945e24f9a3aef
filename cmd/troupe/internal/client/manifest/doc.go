// Package manifest reads the objects that people keep in files: YAML or JSON, one or several in a file, in folders, behind URLs, from
// standard input, and as kustomizations, which the program kustomize builds.
package manifest
