package dev.warmpath.simulator.live;

/**
 * How an engine publishes its events.
 *
 * @param bytesHashes whole digests as bytes, not their low 64 bits as integers
 * @param topic first frame of each message
 * @param bufferBatches batches kept for replay ({@code buffer_steps})
 * @param highWaterMark messages kept for a slow subscriber before it loses some ({@code hwm})
 * @param queueBatches batches that may wait for the publisher before the engine stalls
 */
public record PublisherOptions(
    WireForm form,
    boolean bytesHashes,
    String topic,
    int bufferBatches,
    int highWaterMark,
    int queueBatches) {

  /** vLLM's defaults. */
  public static final PublisherOptions DEFAULT =
      new PublisherOptions(WireForm.MAP, false, "", 10_000, 100_000, 100_000);

  public PublisherOptions {
    if (bufferBatches < 1 || highWaterMark < 0 || queueBatches < 1) {
      throw new IllegalArgumentException(
          "bufferBatches=%d highWaterMark=%d queueBatches=%d"
              .formatted(bufferBatches, highWaterMark, queueBatches));
    }
  }

  /** The same in another form. */
  public PublisherOptions in(WireForm form, boolean bytesHashes) {
    return new PublisherOptions(
        form, bytesHashes, topic, bufferBatches, highWaterMark, queueBatches);
  }

  /** The same with a replay buffer of another size. */
  public PublisherOptions withBuffer(int bufferBatches) {
    return new PublisherOptions(
        form, bytesHashes, topic, bufferBatches, highWaterMark, queueBatches);
  }
}
