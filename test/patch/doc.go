// Package patch tests patches: strategic merge patches against the public implementation of
// them, on random objects of every kind, and patches of all formats from outside, over HTTP.
package patch
