package dev.warmpath.router.config;

import dev.warmpath.router.config.ConfigNode.Listing;
import dev.warmpath.router.config.ConfigNode.Mapping;
import dev.warmpath.router.config.ConfigNode.Scalar;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.api.lowlevel.Compose;
import org.snakeyaml.engine.v2.exceptions.Mark;
import org.snakeyaml.engine.v2.exceptions.MarkedYamlEngineException;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;
import org.snakeyaml.engine.v2.nodes.MappingNode;
import org.snakeyaml.engine.v2.nodes.Node;
import org.snakeyaml.engine.v2.nodes.NodeTuple;
import org.snakeyaml.engine.v2.nodes.ScalarNode;
import org.snakeyaml.engine.v2.nodes.SequenceNode;
import org.snakeyaml.engine.v2.nodes.Tag;

/**
 * Reads YAML 1.2 into nodes that remember their line. Duplicate keys, keys that are not text and
 * anything nested deeper than a configuration can be are errors.
 *
 * <p>Immutable.
 */
public final class YamlReader {

  private static final int DEPTH_LIMIT = 16;

  private final String file;

  private YamlReader(String file) {
    this.file = file;
  }

  public static Mapping read(String text, String file) throws ConfigException {
    ConfigNode root = new YamlReader(file).document(text);
    if (root == null) {
      throw new ConfigException(file, "is empty; write {} for a document without keys");
    }
    if (root instanceof Mapping mapping) {
      return mapping;
    }
    throw new ConfigException(file + ":1", "keys and values expected");
  }

  /** The text of a file's bytes. */
  public static String text(byte[] bytes, String file) throws ConfigException {
    try {
      return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
    } catch (CharacterCodingException e) {
      throw new ConfigException(file, "not UTF-8 text");
    }
  }

  public static Listing readList(String text, String file) throws ConfigException {
    if (new YamlReader(file).document(text) instanceof Listing list) {
      return list;
    }
    throw new ConfigException(file + ":1", "a list expected");
  }

  /** The document, or null if there is nothing in it. */
  private @Nullable ConfigNode document(String text) throws ConfigException {
    Optional<Node> root;
    try {
      root = new Compose(LoadSettings.builder().setLabel(file).build()).composeString(text);
    } catch (MarkedYamlEngineException e) {
      String problem = Optional.ofNullable(e.getProblem()).orElse("not YAML");
      throw new ConfigException(at(e.getProblemMark()), problem);
    } catch (YamlEngineException e) {
      throw new ConfigException(
          file, String.valueOf(e.getMessage()).lines().findFirst().orElse(""));
    } catch (StackOverflowError e) { // the composer calls itself for each level
      throw new ConfigException(file, "nested too deeply");
    }
    return root.isEmpty() || isNull(root.get())
        ? null
        : node(root.get(), at(root.get().getStartMark()), 0);
  }

  private ConfigNode node(Node node, String origin, int depth) throws ConfigException {
    if (depth > DEPTH_LIMIT) {
      throw new ConfigException(origin, "nested too deeply");
    }
    if (node instanceof ScalarNode scalar) {
      return new Scalar(value(scalar), origin);
    }
    if (node instanceof SequenceNode sequence) {
      List<ConfigNode> items = new ArrayList<>();
      for (Node item : sequence.getValue()) {
        items.add(node(item, at(item.getStartMark()), depth + 1));
      }
      return new Listing(items, origin);
    }
    return mapping((MappingNode) node, origin, depth);
  }

  private Mapping mapping(MappingNode node, String origin, int depth) throws ConfigException {
    Map<String, ConfigNode> entries = new LinkedHashMap<>();
    for (NodeTuple tuple : node.getValue()) {
      String keyOrigin = at(tuple.getKeyNode().getStartMark());
      if (!(tuple.getKeyNode() instanceof ScalarNode key)) {
        throw new ConfigException(keyOrigin, "a key must be text");
      }
      if (entries.containsKey(key.getValue())) {
        throw new ConfigException(keyOrigin, "key '" + key.getValue() + "' is given twice");
      }
      entries.put(key.getValue(), node(tuple.getValueNode(), keyOrigin, depth + 1));
    }
    return new Mapping(entries, origin);
  }

  /** The scalar as its tag says; numbers that do not fit stay text and fail the type check. */
  private static @Nullable Object value(ScalarNode scalar) {
    String text = scalar.getValue();
    Tag tag = scalar.getTag();
    if (tag.equals(Tag.NULL)) {
      return null;
    }
    if (tag.equals(Tag.BOOL)) {
      return Boolean.valueOf(text);
    }
    if (tag.equals(Tag.INT)) {
      BigInteger number = new BigInteger(text.startsWith("+") ? text.substring(1) : text);
      return number.bitLength() < Long.SIZE ? (Object) number.longValue() : text;
    }
    return tag.equals(Tag.FLOAT) ? number(text) : text;
  }

  private static Object number(String text) {
    try {
      return Double.valueOf(text);
    } catch (NumberFormatException e) {
      return text;
    }
  }

  private static boolean isNull(Node node) {
    return node instanceof ScalarNode && node.getTag().equals(Tag.NULL);
  }

  private String at(Optional<Mark> mark) {
    return file + ":" + (mark.map(Mark::getLine).orElse(0) + 1);
  }
}
