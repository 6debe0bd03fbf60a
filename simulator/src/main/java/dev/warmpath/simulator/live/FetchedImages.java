package dev.warmpath.simulator.live;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.node.TextNode;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * What an engine would fetch: a made-up PNG for each {@code http(s)} URL of an image, the same
 * until it is changed. Its width and height follow from the URL and how often it was changed.
 *
 * <p>Thread-safe.
 */
final class FetchedImages {

  private static final byte[] SIGNATURE = {(byte) 0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
  private static final int LEAST_SIDE = 56;
  private static final int SIDES = 500;

  private final boolean takesNames;
  private final Map<String, Integer> changes = new ConcurrentHashMap<>();

  /**
   * @param takesNames whether the engine takes a client's {@code uuid} for the name of an image
   */
  FetchedImages(boolean takesNames) {
    this.takesNames = takesNames;
  }

  /** From now on something else is behind the URL. */
  void change(String url) {
    changes.merge(url, 1, Integer::sum);
  }

  /** The request with the images in the place of their URLs; the same if there are none. */
  ObjectNode in(ObjectNode body) {
    return (ObjectNode) copy(body);
  }

  private JsonNode copy(JsonNode node) {
    if (node instanceof ObjectNode object) {
      ObjectNode copy = object.objectNode();
      object.properties().forEach(field -> copy.set(field.getKey(), field(field)));
      if (!takesNames && object.has("image_url")) {
        copy.remove("uuid");
      }
      return copy;
    }
    if (node instanceof ArrayNode array) {
      ArrayNode copy = array.arrayNode();
      array.forEach(element -> copy.add(copy(element)));
      return copy;
    }
    return node;
  }

  private JsonNode field(Map.Entry<String, JsonNode> field) {
    boolean isUrl = field.getKey().equals("url") || field.getKey().equals("image_url");
    JsonNode value = field.getValue();
    return isUrl && value.isTextual() && value.textValue().startsWith("http")
        ? TextNode.valueOf(image(value.textValue()))
        : copy(value);
  }

  private String image(String url) {
    String content = url + " " + changes.getOrDefault(url, 0);
    byte[] text = content.getBytes(StandardCharsets.UTF_8);
    int hash = content.hashCode();
    ByteBuffer file = ByteBuffer.allocate(SIGNATURE.length + 25 + 12 + text.length + 12);
    file.put(SIGNATURE).putInt(13).put(ascii("IHDR"));
    file.putInt(LEAST_SIDE + Math.floorMod(hash, SIDES));
    file.putInt(LEAST_SIDE + Math.floorMod(hash >>> 9, SIDES));
    file.put(new byte[] {8, 2, 0, 0, 0}).putInt(0);
    file.putInt(text.length).put(ascii("IDAT")).put(text).putInt(0);
    file.putInt(0).put(ascii("IEND")).putInt(0);
    return "data:image/png;base64," + Base64.getEncoder().encodeToString(file.array());
  }

  private static byte[] ascii(String text) {
    return text.getBytes(StandardCharsets.ISO_8859_1);
  }
}
