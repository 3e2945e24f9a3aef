// Package coverage maps lines of the specification to the tests that hold them. Each Markdown file here is one map:
// lines, what they are about in a few words, and tests, as a folder and names of functions. The test of the package holds
// the maps against the tests that exist.
package coverage
