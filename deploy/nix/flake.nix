# nix build 'git+file:.?dir=deploy/nix'
#
# `nix flake lock deploy/nix`, once, pins nixpkgs, which must have Go 1.26.
{
  description = "Share secrets that vanish";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixpkgs-unstable";

  outputs = { self, nixpkgs }:
    let
      systems = [ "x86_64-linux" "aarch64-linux" "riscv64-linux" "x86_64-darwin" "aarch64-darwin" ];
      each = nixpkgs.lib.genAttrs systems;
      package = pkgs: (pkgs.buildGoModule.override { go = pkgs.go_1_26; }) {
        pname = "pushbox";
        version = "3.0.0";
        src = ../..;
        # A test computes it from go.mod and go.sum.
        vendorHash = "sha256-Spl30H9wsxHgDuY0xv2kWOcVS8zFCxDmv1Qp922zZuA=";
        subPackages = [ "." ];
        env.CGO_ENABLED = 0;
        ldflags = [ "-s" "-w" "-funcalign=16" ];
        doCheck = false; # the tests need many other programs
        nativeBuildInputs = [ pkgs.installShellFiles ];
        postInstall = ''
          for shell in bash zsh fish; do $out/bin/pushbox completion $shell >pushbox.$shell; done
          installShellCompletion pushbox.bash pushbox.zsh pushbox.fish
          install -D -m 0644 deploy/systemd/pushbox.service $out/lib/systemd/system/pushbox.service
          substituteInPlace $out/lib/systemd/system/pushbox.service --replace-fail /usr/bin/pushbox $out/bin/pushbox
        '';
        meta = {
          description = "Share secrets that vanish";
          license = pkgs.lib.licenses.mit;
          mainProgram = "pushbox";
        };
      };
    in
    {
      packages = each (system: { default = package nixpkgs.legacyPackages.${system}; });

      # services.pushbox = { enable = true; settings.base_url = "https://push.example.com"; };
      nixosModules.default = { config, lib, pkgs, ... }:
        let
          cfg = config.services.pushbox;
        in
        {
          options.services.pushbox = {
            enable = lib.mkEnableOption "pushbox";
            settings = lib.mkOption {
              type = (pkgs.formats.yaml { }).type;
              default = { };
              description = "Settings, as in config.example.yaml. All users can read them: secrets belong into files that they name.";
            };
          };
          config = lib.mkIf cfg.enable {
            services.pushbox.settings = {
              data_dir = lib.mkDefault "/var/lib/pushbox";
              listen = lib.mkDefault "127.0.0.1:5100";
            };
            environment.etc."pushbox/config.yaml".source = (pkgs.formats.yaml { }).generate "pushbox.yaml" cfg.settings;
            environment.systemPackages = [ self.packages.${pkgs.stdenv.hostPlatform.system}.default ];
            systemd.packages = [ self.packages.${pkgs.stdenv.hostPlatform.system}.default ];
            systemd.services.pushbox = { wantedBy = [ "multi-user.target" ]; restartTriggers = [ config.environment.etc."pushbox/config.yaml".source ]; };
            systemd.tmpfiles.rules = [ "d /etc/pushbox/key 0700 pushbox pushbox" "d /var/lib/pushbox 0700 pushbox pushbox" ];
            users.users.pushbox = { isSystemUser = true; group = "pushbox"; home = "/var/lib/pushbox"; };
            users.groups.pushbox = { };
          };
        };
    };
}
