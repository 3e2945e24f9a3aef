// Package featuregates tests what each feature gate switches that has an effect, and holds the table of gates against
// the public libraries that declare them.
package featuregates
