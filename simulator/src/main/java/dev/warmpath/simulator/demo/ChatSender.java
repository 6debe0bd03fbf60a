package dev.warmpath.simulator.demo;

/**
 * Where a load's requests go.
 *
 * <p>Thread-safe.
 */
interface ChatSender {

  /** Sends a streaming chat request and waits for its end; failures are in the reply. */
  ChatReply send(String body);
}
