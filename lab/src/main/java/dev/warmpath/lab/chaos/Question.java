package dev.warmpath.lab.chaos;

/**
 * A chat request and the only right answer to it.
 *
 * @param body the JSON of the request
 * @param streamed whether it asks for an event stream
 * @param answer the text that every engine gives
 */
record Question(String body, boolean streamed, String answer) {}
