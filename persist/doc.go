// Package persist keeps bytes that survive: revisions, keys and values, no kinds.
package persist
