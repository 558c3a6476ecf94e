import IngestRecords

/// What a sport is called in a workout.
enum SportName {
    /// As vital-ios names HealthKit's (HKWorkoutActivityType+String): `activity-mind-and-body` is `Mind and Body`. `Other`
    /// for one that it does not know, and for none.
    static func of(_ record: RecordContent) -> String {
        let prefix = "activity-"
        guard let flag = record.flags.first(where: { $0.hasPrefix(prefix) }) else { return "Other" }
        let name = flag.dropFirst(prefix.count)
        return all.first { $0.lowercased().replacing(" ", with: "-") == name } ?? "Other"
    }

    private static let all = [
        "American Football", "Archery", "Australian Football", "Badminton", "Barre", "Baseball", "Basketball",
        "Bowling", "Boxing", "Cardio Dance", "Climbing", "Cooldown", "Core Training", "Cross Country Skiing",
        "Cross Training", "Curling", "Cycling", "Dance", "Dance Inspired Training", "Disc Sports",
        "Downhill Skiing", "Elliptical", "Equestrian Sports", "Fencing", "Fishing", "Fitness Gaming",
        "Flexibility", "Functional Strength Training", "Golf", "Gymnastics", "Hand Cycling", "Handball",
        "High Intensity Interval Training", "Hiking", "Hockey", "Hunting", "Jump Rope", "Kickboxing",
        "Lacrosse", "Martial Arts", "Mind and Body", "Mixed Cardio", "Mixed Metabolic Cardio Training",
        "Paddle Sports", "Pickleball", "Pilates", "Play", "Preparation and Recovery", "Racquetball", "Rowing",
        "Rugby", "Running", "Sailing", "Skating Sports", "Snow Sports", "Snowboarding", "Soccer",
        "Social Dance", "Softball", "Squash", "Stair Climbing", "Stairs", "Step Training", "Surfing Sports",
        "Swimming", "Table Tennis", "Tai Chi", "Tennis", "Track and Field", "Traditional Strength Training",
        "Volleyball", "Walking", "Water Fitness", "Water Polo", "Water Sports", "Wheelchair Run Pace",
        "Wheelchair Walk Pace", "Wrestling", "Yoga",
    ]
}
