package dev.warmpath.simulator.live;

import com.fasterxml.jackson.databind.node.ObjectNode;

/** Writes an answer of one sequence whose stream is made of named events. Immutable. */
interface EventAnswer {

  /** The events before the first text. */
  String opening(AnswerJson.Usage usage);

  /** The event for a piece of text. */
  String piece(String text);

  /** The events after the last text. */
  String closing(String text, String finish, AnswerJson.Usage usage);

  /** The whole answer. */
  ObjectNode whole(String text, String finish, AnswerJson.Usage usage);

  /** One event as it is sent. */
  static String event(ObjectNode data) {
    return "event: " + data.path("type").asText() + "\ndata: " + data + "\n\n";
  }
}
