package dev.warmpath.router.config;

import dev.warmpath.router.config.ConfigNode.Listing;
import dev.warmpath.router.config.ConfigNode.Mapping;
import dev.warmpath.router.config.ConfigNode.Scalar;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Makes replicas of addresses that a source finds: the keys of a replica, with {@code {name}},
 * {@code {host}} and {@code {port}} in the place of what only the address tells.
 *
 * <p>Immutable.
 */
public final class ReplicaTemplate {

  /** How the names of annotations begin that replace keys of a template. */
  public static final String ANNOTATION = "warmpath.dev/";

  private static final int MAX_PORT = 65_535;

  private static final Pattern PLACEHOLDER = Pattern.compile("\\{([^{}]*)}");

  /** What an address may put into a template, whose keys may name files. */
  private static final Pattern VALUE = Pattern.compile("[A-Za-z0-9_\\[][A-Za-z0-9_.:%\\]-]*");

  /** The template of a source that is given none. */
  public static final ReplicaTemplate DEFAULT =
      new ReplicaTemplate(new Mapping(Map.of(), "default"));

  /** An address by which a template is tried. */
  private static final Map<String, String> SAMPLE =
      Map.of("name", "replica", "host", "192.0.2.1", "port", "8000");

  private final Mapping keys;

  private ReplicaTemplate(Mapping given) {
    keys = complete(given);
  }

  /**
   * A template of keys, which are tried with an address.
   *
   * @param given those that every replica needs may be missing
   * @throws ConfigException if they make no replica
   */
  public static ReplicaTemplate of(Mapping given) throws ConfigException {
    ReplicaTemplate template = new ReplicaTemplate(given);
    replica(fill(template.keys, SAMPLE));
    return template;
  }

  /**
   * The replica at an address.
   *
   * @param name what {@code {name}} stands for
   * @param host address or host name, an IPv6 address without brackets
   * @param annotations of what was found there: those called {@link #ANNOTATION}… replace keys of
   *     the template, others are not looked at
   * @throws ConfigException if that makes no replica, or an annotation makes no sense
   */
  public ReplicaConfig replica(String name, String host, int port, Map<String, String> annotations)
      throws ConfigException {
    return replica(name, host, port, annotations, 0);
  }

  /**
   * The replica of one rank at an address that has several, each with a port of its own.
   *
   * @param rank among those of the address: added to {@code first-rank}, and so to the ports of
   *     events, unless the engine is asked for them
   */
  public ReplicaConfig replica(
      String name, String host, int port, Map<String, String> annotations, int rank)
      throws ConfigException {
    String origin = address(host, port);
    Map<String, String> address =
        Map.of("name", name, "host", bracketed(host), "port", Integer.toString(port));
    for (Map.Entry<String, String> value : address.entrySet()) {
      if (!VALUE.matcher(value.getValue()).matches()) {
        throw new ConfigException(
            origin, "{" + value.getKey() + "} may not be '" + value.getValue() + "'");
      }
    }
    Mapping replica = fill(new Mapping(keys.entries(), origin), address);
    for (Map.Entry<String, String> annotation : annotations.entrySet()) {
      if (annotation.getKey().startsWith(ANNOTATION)) {
        try {
          replica = annotated(replica, annotation, bracketed(host));
        } catch (IllegalArgumentException e) {
          throw new ConfigException("pod " + name, String.valueOf(e.getMessage()));
        }
      }
    }
    ReplicaConfig made = replica(replica);
    return rank == 0 || made.events() == null || made.asksForEvents()
        ? made
        : replica(with(replica, "first-rank", (long) made.firstRank() + rank));
  }

  /** The address as refusals call it. */
  public static String address(String host, int port) {
    return bracketed(host) + ":" + port;
  }

  private static String bracketed(String host) {
    return host.indexOf(':') < 0 ? host : "[" + host + "]";
  }

  /** The keys with one of them as a pod's annotation tells it. */
  private static Mapping annotated(
      Mapping replica, Map.Entry<String, String> annotation, String host) {
    String name = annotation.getKey();
    String key = name.substring(ANNOTATION.length());
    String text = annotation.getValue().strip();
    return switch (key) {
      case "events-port" -> withPort(replica, "events", host, number(name, text, MAX_PORT));
      case "replay-port" -> withPort(replica, "replay", host, number(name, text, MAX_PORT));
      case "ranks", "first-rank" -> with(replica, key, number(name, text, Integer.MAX_VALUE));
      case "dialect", "role" -> with(replica, key, text);
      case "models" ->
          with(replica, key, Stream.of(text.split(",", -1)).map(String::strip).toList());
      default -> throw new IllegalArgumentException("'" + name + "' is unknown");
    };
  }

  private static long number(String name, String text, int max) {
    long number = text.matches("[0-9]{1,9}") ? Long.parseLong(text) : 0;
    if (number < 1 || number > max) {
      throw new IllegalArgumentException("'" + name + "' must be a number from 1: '" + text + "'");
    }
    return number;
  }

  private static Mapping with(Mapping replica, String key, Object value) {
    return replica.with(key, ConfigNode.of(value, replica.origin()));
  }

  /** The endpoint with another port. */
  private static Mapping withPort(Mapping replica, String key, String host, long port) {
    ConfigNode endpoint = replica.given(key);
    String base =
        endpoint == null || "auto".equals(endpoint.value())
            ? "tcp://" + host
            : String.valueOf(endpoint.value());
    return with(replica, key, base.replaceFirst(":[0-9]+$", "") + ":" + port);
  }

  private static ReplicaConfig replica(Mapping keys) throws ConfigException {
    return ConfigTree.replicas(new Listing(List.of(keys), keys.origin()), true).get(0);
  }

  /** The given keys, and those that every replica needs. */
  private static Mapping complete(Mapping given) {
    Map<String, ConfigNode> keys = new LinkedHashMap<>();
    keys.put("name", new Scalar("{name}", given.origin()));
    keys.put("url", new Scalar("http://{host}:{port}", given.origin()));
    keys.putAll(given.entries());
    return new Mapping(keys, given.origin());
  }

  /** The keys with values in the place of their placeholders. */
  private static Mapping fill(Mapping keys, Map<String, String> address) throws ConfigException {
    Map<String, ConfigNode> filled = new LinkedHashMap<>();
    for (Map.Entry<String, ConfigNode> key : keys.entries().entrySet()) {
      filled.put(key.getKey(), fill(key.getValue(), address));
    }
    return new Mapping(filled, keys.origin());
  }

  private static ConfigNode fill(ConfigNode node, Map<String, String> address)
      throws ConfigException {
    if (node instanceof Listing list) {
      List<ConfigNode> items = new ArrayList<>();
      for (ConfigNode item : list.items()) {
        items.add(fill(item, address));
      }
      return new Listing(items, node.origin());
    }
    return node.value() instanceof String text
        ? new Scalar(fill(text, address, node.origin()), node.origin())
        : node;
  }

  private static String fill(String text, Map<String, String> address, String origin)
      throws ConfigException {
    Matcher placeholder = PLACEHOLDER.matcher(text);
    StringBuilder filled = new StringBuilder();
    while (placeholder.find()) {
      String value = address.get(placeholder.group(1));
      if (value == null) {
        throw new ConfigException(
            origin, "'" + placeholder.group() + "' is none of {name}, {host}, {port}");
      }
      placeholder.appendReplacement(filled, Matcher.quoteReplacement(value));
    }
    return placeholder.appendTail(filled).toString();
  }

  /** Whether the values are the same, wherever they were written. */
  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof ReplicaTemplate template && values().equals(template.values());
  }

  @Override
  public int hashCode() {
    return values().hashCode();
  }

  @Override
  public String toString() {
    return values().toString();
  }

  private Map<String, @Nullable Object> values() {
    Map<String, @Nullable Object> values = new LinkedHashMap<>();
    keys.entries().forEach((key, node) -> values.put(key, node.value()));
    return values;
  }
}
