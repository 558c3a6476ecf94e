import FoundationEssentials
import Synchronization
import TestSupport

/// Validic's first API, as strict as what is public of it: the recorded exchanges and the pages of its records. It keeps
/// what has their form, and answers everything else as they do.
final class FakeValidicV1: Sendable {
    static let organization = "54a2eda484626bb50a00002b"
    static let userID = "54a2eda484626bb50a00002c"

    /// A record as it is kept.
    struct Kept: Equatable {
        let form: String
        let id: String
        /// Its members as JSON, but for the id.
        let members: [String: String]
    }

    private struct State {
        var token = "token-1"
        var kept: [Kept] = []
        /// The bodies of requests, those that were refused among them.
        var requests: [String] = []
        /// Why requests were refused.
        var faults: [String] = []
        /// Another answer than the recorded ones.
        var answer: TestReceiver.Answer?
    }

    private let state = Mutex(State())

    var kept: [Kept] { state.withLock { $0.kept } }
    var requests: [String] { state.withLock { $0.requests } }
    var faults: [String] { state.withLock { $0.faults } }

    func accept(token: String) { state.withLock { $0.token = token } }
    func answer(_ answer: TestReceiver.Answer?) { state.withLock { $0.answer = answer } }

    func answer(_ request: TestReceiver.Received) -> TestReceiver.Answer {
        state.withLock { state in
            state.requests.append(request.text)
            if let answer = state.answer { return answer }
            do throws(Refusal) {
                let kept = try Self.take(request, token: state.token)
                guard !state.kept.contains(where: { $0.id == kept.id }) else {
                    throw Refusal(409, "Conflict", #""activity_id is there already""#)
                }
                state.kept.append(kept)
                let made =
                    #"{"_id":"54aeeed898b4b11f9a0001b8","activity_id":"\#(kept.id)","validated":false}"#
                return TestReceiver.Answer(
                    status: 201, body: #"{"code":201,"message":"Ok","\#(kept.form)":\#(made)}"#)
            } catch {
                state.faults.append("\(error.status) \(error.errors ?? "")")
                return error.answer
            }
        }
    }

    /// An answer in the recorded form.
    struct Refusal: Error {
        let status: Int
        let message: String
        /// As JSON.
        let errors: String?

        init(_ status: Int, _ message: String, _ errors: String? = nil) {
            (self.status, self.message, self.errors) = (status, message, errors)
        }

        init(_ fault: StrictJSON.Fault) {
            self.init(422, "Unprocessable Entity", "\"\(fault.what.replacing("\"", with: "'"))\"")
        }

        var answer: TestReceiver.Answer {
            let errors = errors.map { #","errors":\#($0)"# } ?? ""
            return TestReceiver.Answer(
                status: status, body: #"{"code":\#(status),"message":"\#(message)"\#(errors)}"#)
        }
    }

    // MARK: - What it takes

    /// The numbers of each form (docs/destinations/validic.md).
    private static let numbers: [String: Set<String>] = [
        "biometrics": [
            "blood_calcium", "blood_chromium", "blood_folic_acid", "blood_magnesium", "blood_potassium",
            "blood_sodium", "blood_vitamin_b12", "blood_zinc", "creatine_kinase", "crp", "diastolic",
            "ferritin", "hdl", "hscrp", "il6", "ldl", "resting_heartrate", "systolic", "testosterone",
            "total_cholesterol", "tsh", "uric_acid", "vitamin_d", "white_cell_count", "spo2", "temperature",
        ],
        "diabetes": [
            "c_peptide", "fasting_plasma_glucose_test", "hba1c", "insulin", "oral_glucose_tolerance_test",
            "random_plasma_glucose_test", "triglyceride", "blood_glucose",
        ],
        "weight": ["weight", "height", "free_mass", "fat_percent", "mass_weight", "bmi"],
        "fitness": ["distance", "duration", "calories"],
        "nutrition": ["calories", "carbohydrates", "fat", "fiber", "protein", "sodium", "water"],
        "sleep": ["awake", "deep", "light", "rem", "times_woken", "total_sleep"],
    ]
    /// Texts of each form.
    private static let texts: [String: Set<String>] = [
        "fitness": ["type", "intensity", "start_time"], "nutrition": ["meal"],
    ]

    private static func take(_ request: TestReceiver.Received, token: String) throws(Refusal) -> Kept {
        let parts = request.target.split(separator: "/").map(String.init)
        guard parts.count == 7, parts[0] == "POST ", parts[1] == "v1", parts[2] == "organizations",
            parts[4] == "users", parts[6].hasSuffix(".json")
        else { throw Refusal(404, "Not Found") }
        let form = String(parts[6].dropLast(5))
        guard let numbers = numbers[form] else { throw Refusal(404, "Not Found") }
        do {
            guard request.headers["content-type"] == "application/json",
                request.headers["accept"] == "application/json"
            else { throw StrictJSON.Fault("Content-Type, Accept") }
            let body = try StrictJSON.object(request.text, ["access_token", form])
            guard try StrictJSON.text(body, "access_token") == token else {
                // Its answers do not say back what they were sent; one that does must not be kept as it is.
                throw Refusal(401, "Unauthorized", body["access_token"])
            }
            guard parts[3] == organization else { throw Refusal(403, "Forbidden", #""Bad request""#) }
            guard parts[5] == userID else { throw Refusal(404, "Not Found", #""No user found""#) }
            return try record(body[form], form, numbers)
        } catch let fault as StrictJSON.Fault {
            throw Refusal(fault)
        } catch let refusal as Refusal {
            throw refusal
        } catch {
            throw Refusal(500, "Internal Server Error")
        }
    }

    private static func record(_ json: String?, _ form: String, _ numbers: Set<String>) throws -> Kept {
        var members = try StrictJSON.object(
            json, ["activity_id", "timestamp", "utc_offset"],
            optional: numbers.union(["extras"]).union(texts[form] ?? []))
        for name in (texts[form] ?? []).intersection(members.keys) { _ = try StrictJSON.text(members, name) }
        guard try StrictJSON.text(members, "timestamp").contains(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00$/)
        else {
            throw Refusal(406, "Not Acceptable", #"["Invalid date"]"#)
        }
        guard try StrictJSON.text(members, "utc_offset").contains(/^[+-]\d\d:\d\d$/) else {
            throw StrictJSON.Fault("utc_offset")
        }
        for name in numbers.intersection(members.keys) { _ = try StrictJSON.number(members, name) }
        if let extras = members["extras"] {
            let known: Set = [
                "relationship_to_meal", "related_activity_id", "time", "manufacturer", "model",
            ]
            let extras = try StrictJSON.object(extras, [], optional: known)
            for name in extras.keys { _ = try StrictJSON.text(extras, name) }
        } else if numbers.isDisjoint(with: members.keys) {
            throw StrictJSON.Fault("nothing is measured")
        }
        let id = try StrictJSON.text(members, "activity_id")
        guard id.utf8.count == 36 else { throw StrictJSON.Fault("activity_id") }
        members["activity_id"] = nil
        return Kept(form: form, id: id, members: members)
    }
}
