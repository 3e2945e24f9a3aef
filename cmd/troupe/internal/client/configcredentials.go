package client

import (
	"encoding/base64"
	"fmt"
	"os"

	"github.com/spf13/cobra"
)

func setCredentials(f *connectionFlags) *cobra.Command {
	var embed bool
	var username, password, command, version, mode string
	var execArgs []string
	c := &cobra.Command{
		Use: "set-credentials NAME", Short: "Make or change a user: what one proves oneself with", Args: cobra.ExactArgs(1), ValidArgsFunction: f.completeEntries("users"),
		Example: "  troupe config set-credentials reporter --token=$(troupe create token reporter)",
	}
	c.Flags().BoolVar(&embed, "embed-certs", false, "Keep certificate and key in the file, not where they are.")
	c.Flags().StringVar(&username, "username", "", "Name for a password.")
	c.Flags().StringVar(&password, "password", "", "Password.")
	c.Flags().StringVar(&command, "exec-command", "", "Program that gives the credential.")
	c.Flags().StringVar(&version, "exec-api-version", "client.authentication.platform.io/v1", "Version in which the program speaks.")
	c.Flags().StringVar(&mode, "exec-interactive-mode", "IfAvailable", "Whether the program asks people: Never, IfAvailable, Always.")
	c.Flags().StringArrayVar(&execArgs, "exec-arg", nil, "Argument of the program; may be repeated.")
	c.Flags().StringToStringVar(new(map[string]string), "exec-env", nil, "Variables of the program: NAME=VALUE.")
	c.RunE = local(func(c *cobra.Command, args []string) error {
		env, err := c.Flags().GetStringToString("exec-env")
		if err != nil {
			return err
		}
		execEnv := keysOf(env)
		embedded := map[string]string{}
		for field, path := range map[string]string{"client-certificate": f.rules.Overrides.Certificate, "client-key": f.rules.Overrides.Key} {
			if embed && path != "" {
				text, err := os.ReadFile(path)
				if err != nil {
					return err
				}
				embedded[field] = base64.StdEncoding.EncodeToString(text)
			}
		}
		_, err = setEntry(f.rulesOf(), "users", args[0], func(inner map[string]any) {
			setGiven(c, inner, "client-certificate", "client-key", "token", "username", "password")
			for field, data := range embedded {
				delete(inner, field)
				inner[field+"-data"] = data
			}
			if command == "" {
				return
			}
			exec := map[string]any{"command": command, "apiVersion": version, "interactiveMode": mode}
			if len(execArgs) > 0 {
				exec["args"] = execArgs
			}
			var variables []any
			for _, name := range execEnv {
				variables = append(variables, map[string]any{"name": name, "value": env[name]})
			}
			if variables != nil {
				exec["env"] = variables
			}
			inner["exec"] = exec
		})
		if err == nil {
			fmt.Fprintf(c.OutOrStdout(), "User %q set.\n", args[0])
		}
		return err
	})
	return c
}
