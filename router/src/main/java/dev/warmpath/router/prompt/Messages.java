package dev.warmpath.router.prompt;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import java.util.Arrays;

/**
 * The elements of a list, where each begins in its body, and what they take of the heap.
 *
 * <p>Confined to the thread that adds to it; immutable from then on.
 */
final class Messages {

  private static final int ROOM = 16;

  private JsonNode[] nodes;
  private int[] starts;
  private long[] weights;
  private int count;

  Messages() {
    nodes = new JsonNode[ROOM];
    starts = new int[ROOM];
    weights = new long[ROOM];
  }

  private Messages(Messages first, int count) {
    nodes = Arrays.copyOf(Arrays.copyOf(first.nodes, count), count + ROOM);
    starts = Arrays.copyOf(first.starts, count + ROOM);
    weights = Arrays.copyOf(first.weights, count + ROOM);
    this.count = count;
  }

  /** A list of its own with the first {@code count} of these. */
  Messages first(int count) {
    return new Messages(this, count);
  }

  void add(JsonNode node, int start) {
    if (count == nodes.length) {
      nodes = Arrays.copyOf(nodes, 2 * count);
      starts = Arrays.copyOf(starts, 2 * count);
      weights = Arrays.copyOf(weights, 2 * count);
    }
    nodes[count] = node;
    starts[count] = start;
    weights[count++] = NodeBytes.of(node);
  }

  void addTo(ArrayNode list) {
    for (int i = 0; i < count; i++) {
      list.add(nodes[i]);
    }
  }

  int count() {
    return count;
  }

  /** Where element {@code index} begins. */
  int start(int index) {
    return starts[index];
  }

  /** How many of them begin before {@code place}. */
  int countBefore(int place) {
    int at = Arrays.binarySearch(starts, 0, count, place);
    return at < 0 ? -at - 1 : at;
  }

  /** Bytes of the heap, about. */
  long weight() {
    return Arrays.stream(weights, 0, count).sum();
  }
}
