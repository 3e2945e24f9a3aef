// Package credentials runs clients whose credentials come from elsewhere: from programs (plugins) and from an OpenID
// Connect provider. The plugin is the program in testdata's stead that the tests make: the test's own binary, which writes down what it
// was given and answers what it is told to.
package credentials
