package display

// ProviderPath, with the name of a sign-in provider behind it, is the path that begins one
// there.
const ProviderPath = "/users/oidc/"

// BackPath is the path to which the provider of that name sends browsers back.
func BackPath(name string) string { return ProviderPath + name + "/callback" }
