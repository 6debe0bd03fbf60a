package dev.warmpath.router.prompt;

import com.fasterxml.jackson.databind.JsonNode;

/** What nodes take of the heap, rather too much than too little. Immutable. */
final class NodeBytes {

  static final int CONTAINER_BYTES = 96;
  static final int ENTRY_BYTES = 64;
  static final int TEXT_BYTES = 64;
  static final int OTHER_BYTES = 24;

  private NodeBytes() {}

  /** Bytes of a node and all in it; its depth is bounded by the parser. */
  static long of(JsonNode node) {
    if (node.isTextual()) {
      return TEXT_BYTES + 2L * node.textValue().length();
    }
    if (!node.isContainerNode()) {
      return OTHER_BYTES;
    }
    long bytes = CONTAINER_BYTES;
    for (JsonNode child : node) {
      bytes += ENTRY_BYTES + of(child);
    }
    return bytes;
  }
}
