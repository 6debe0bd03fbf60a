package dev.warmpath.router.cli;

import dev.warmpath.router.config.ConfigException;
import dev.warmpath.router.config.ConfigTree;
import dev.warmpath.router.config.EnvironmentKeys;
import dev.warmpath.router.config.Reloader.ConfigLoader;
import dev.warmpath.router.config.RouterConfig;
import dev.warmpath.router.config.YamlReader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/**
 * The flags that describe a router: a file, and what lies over it.
 *
 * <p>Confined to the main thread.
 */
public final class ServeFlags implements ConfigLoader {

  private static final String WATCH = "reload.watch";

  @Option(
      names = "--config",
      paramLabel = "FILE",
      description =
          "YAML file; without one all keys have their defaults. See docs/configuration.md.")
  private @Nullable Path config;

  @Option(
      names = "--host",
      paramLabel = "ADDRESS",
      description = "Address for clients (127.0.0.1).")
  private @Nullable String host;

  @Option(names = "--port", paramLabel = "N", description = "Port for clients (8080); 0 takes any.")
  private @Nullable Integer port;

  @Option(
      names = "--picker-port",
      paramLabel = "N",
      description = "Port for gateways that ask for endpoints (ext_proc); 0 for none (0).")
  private @Nullable Integer pickerPort;

  @Option(
      names = "--admin-host",
      paramLabel = "ADDRESS",
      description = "Address for admins (127.0.0.1).")
  private @Nullable String adminHost;

  @Option(
      names = "--admin-port",
      paramLabel = "N",
      description = "Port for admins (8081); 0 takes any.")
  private @Nullable Integer adminPort;

  @Option(
      names = "--policy",
      paramLabel = "NAME",
      description = "How a replica is chosen (warm); see docs/routing.md.")
  private @Nullable String policy;

  @Option(
      names = "--replica",
      paramLabel = "NAME=URL[,KEY=VALUE]...",
      description = {
        "A replica; may be repeated. Keys: events, replay (ZMQ endpoints), bind, ranks, dialect,"
            + " model."
      })
  private List<String> replicas = new ArrayList<>();

  @Option(
      names = "--tokenizer",
      paramLabel = "MODEL=DIR",
      description =
          "A model's tokenizer: directory, tokenizer.json, hf://ORGANISATION/NAME[@REVISION] or"
              + " 'embedded'; may be repeated.")
  private List<String> tokenizers = new ArrayList<>();

  @Option(
      names = "--set",
      paramLabel = "KEY=VALUE",
      description = "Any key of the file outside lists, such as timeouts.connect-ms=500.")
  private List<String> sets = new ArrayList<>();

  private Map<String, String> environment = System.getenv();

  /** Reads these environment variables instead of the process's. */
  ServeFlags with(Map<String, String> variables) {
    environment = variables;
    return this;
  }

  /** The configuration that the file, the environment and the flags make together. */
  public RouterConfig config() throws ConfigException {
    return config(Map.of(), "");
  }

  @Override
  public RouterConfig load(RouterConfig running, byte @Nullable [] content) throws ConfigException {
    ConfigTree tree = tree(content, Map.of(), "");
    return running.reload().watch() ? tree.orElse(WATCH, true).config() : tree.config();
  }

  @Override
  public @Nullable Path file() {
    return config;
  }

  /**
   * The configuration of another command than {@code serve}.
   *
   * @param sections in YAML, instead of those of the file and the environment; flags go over them
   * @param command what errors name
   */
  public RouterConfig config(Map<String, String> sections, String command) throws ConfigException {
    return tree(null, sections, command).config();
  }

  private ConfigTree tree(byte @Nullable [] content, Map<String, String> sections, String command)
      throws ConfigException {
    ConfigTree tree = file(content);
    tree = EnvironmentKeys.over(tree, environment);
    for (Map.Entry<String, String> section : sections.entrySet()) {
      tree = tree.setText(section.getKey(), section.getValue(), command);
    }
    tree = set(tree, "listen.host", host, "--host");
    tree = set(tree, "listen.port", port, "--port");
    tree = set(tree, "picker.port", pickerPort, "--picker-port");
    tree = set(tree, "admin.host", adminHost, "--admin-host");
    tree = set(tree, "admin.port", adminPort, "--admin-port");
    tree = set(tree, "policy.name", policy, "--policy");
    for (String assignment : sets) {
      String[] pair = pair(assignment, "--set", "KEY=VALUE");
      tree = tree.setText(pair[0], pair[1], "--set " + assignment);
    }
    for (String tokenizer : tokenizers) {
      String[] pair = pair(tokenizer, "--tokenizer", "MODEL=DIR");
      Map<String, String> model = Map.of("name", pair[0], "tokenizer", pair[1]);
      tree = tree.put("models", model, "--tokenizer " + tokenizer);
    }
    for (String replica : replicas) {
      tree = tree.put("replicas", replica(replica), "--replica " + replica);
    }
    return tree;
  }

  private ConfigTree file(byte @Nullable [] content) throws ConfigException {
    if (config == null) {
      return ConfigTree.empty();
    }
    return content == null
        ? ConfigTree.read(config)
        : ConfigTree.parse(YamlReader.text(content, config.toString()), config.toString());
  }

  private static ConfigTree set(ConfigTree tree, String path, @Nullable Object value, String flag) {
    return value == null ? tree : tree.set(path, value, flag);
  }

  private static Map<String, Object> replica(String flag) throws ConfigException {
    Map<String, Object> replica = new LinkedHashMap<>();
    List<String> models = new ArrayList<>();
    List<String> loras = new ArrayList<>();
    boolean first = true;
    for (String part : flag.split(",", -1)) {
      String[] pair = pair(part, "--replica " + flag, first ? "NAME=URL" : "KEY=VALUE");
      if (first) {
        replica.put("name", pair[0]);
        replica.put("url", pair[1]);
      } else {
        switch (pair[0]) {
          case "model", "models" -> models.add(pair[1]);
          case "lora", "loras" -> loras.add(pair[1]);
          default -> replica.put(pair[0], value(pair[1]));
        }
      }
      first = false;
    }
    if (!models.isEmpty()) {
      replica.put("models", models);
    }
    if (!loras.isEmpty()) {
      replica.put("loras", loras);
    }
    return replica;
  }

  private static Object value(String text) {
    if (text.equals("true") || text.equals("false")) {
      return Boolean.valueOf(text);
    }
    return text.matches("[0-9]{1,9}") ? (Object) Long.valueOf(text) : text;
  }

  private static String[] pair(String text, String flag, String shape) throws ConfigException {
    int equals = text.indexOf('=');
    if (equals < 1 || equals == text.length() - 1) {
      throw new ConfigException(List.of(flag + ": '" + text + "' must be " + shape));
    }
    return new String[] {text.substring(0, equals), text.substring(equals + 1)};
  }
}
